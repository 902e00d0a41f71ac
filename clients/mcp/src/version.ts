// The version of the package, as in package.json: a test compares them.

export const VERSION = '0.1.0'
