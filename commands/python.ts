// Prepares the environments for the tests of the library for Python: `npm test` runs it. Says why where it can't.

import { environmentOf, findInterpreters, makeEnvironment } from './python/environments.ts'

const { oldest, newest } = findInterpreters()
for (const interpreter of new Map(
  [oldest, newest].flatMap((one) => (one ? [[one.version, one] as const] : [])),
).values()) {
  try {
    await makeEnvironment(interpreter)
  } catch (error) {
    process.exitCode = 1
    process.stderr.write(`${environmentOf(interpreter)}: ${error instanceof Error ? error.message : error}\n`)
  }
}
