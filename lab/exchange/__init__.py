"""What goes back and forth between campaigns, machines and people: the workbook brought up to date, attempts merged."""
