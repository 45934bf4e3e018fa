"""Why a run went as it did, and why a job did not run."""
