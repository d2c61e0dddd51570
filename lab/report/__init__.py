"""The decision report: a document of plain data, its view in one language, and the pages made from it."""
