"""All files of a campaign: read strictly, written whole or not at all."""
