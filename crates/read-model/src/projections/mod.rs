//! The register of projections: one folder each, one line each.
