"""The doctor's checks: one file for each subject, which `doctor.register` finds by itself."""
