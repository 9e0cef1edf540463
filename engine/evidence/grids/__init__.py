"""NIfTI, NRRD and MetaImage."""
