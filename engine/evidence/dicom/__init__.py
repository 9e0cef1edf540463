"""DICOM files: headers, pixels, series and frames in space."""
