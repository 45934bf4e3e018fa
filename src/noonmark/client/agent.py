"""How we present ourselves: the audit tells by this through which door a change came."""

SDK = "noonmark-sdk"
CLI = "noonmark-cli"
