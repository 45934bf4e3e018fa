-- How often subscriptions have been changed, and whether there are any.
SELECT v.value, EXISTS (SELECT FROM noonmark.subscription) FROM noonmark.setting v WHERE v.name = 'subscriptions'
