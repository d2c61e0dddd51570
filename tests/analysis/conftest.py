"""Makes `campaign_builder` importable for the tests of this folder and of `cases`."""
