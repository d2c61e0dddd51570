"""GPU Decision Lab: measure, judge and price GPU configurations, and write down the decision."""
