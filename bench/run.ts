// `npm run bench -- <name>...`: runs benchmarks one after the other and appends what they found to bench/README.md.

import { runBacklog } from './backlog.ts'
import { record, type Verdict } from './harness.ts'

const BENCHES: Record<string, () => Promise<Verdict[]>> = {
  backlog: runBacklog,
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in BENCHES))
if (names.length === 0 || unknown.length > 0) {
  process.stderr.write(`Usage: npm run bench -- <name>...\n\nNames: ${Object.keys(BENCHES).join(', ')}\n`)
  process.exit(2)
}
let isReached = true
for (const name of names) {
  const verdicts = (await BENCHES[name]?.()) ?? []
  record(
    name,
    verdicts.map((verdict) => `${verdict.name}: ${verdict.line}`),
  )
  isReached &&= verdicts.every((verdict) => verdict.isReached)
}
process.exit(isReached ? 0 : 1)
