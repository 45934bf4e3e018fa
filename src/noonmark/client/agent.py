"""The names in our User-Agent: the audit knows by them through which door a change came."""

SDK = "noonmark-sdk"
CLI = "noonmark-cli"
