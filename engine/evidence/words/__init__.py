"""Reports: text, structured reports, HL7, PDF and tables."""
