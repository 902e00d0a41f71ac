// `npm run bench -- <name>...`: runs benchmarks one after the other and writes their results into bench/README.md.

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { BENCHES, type BenchName, isBenchName } from './benches.ts'
import { type Bench, print, record } from './harness.ts'

const USAGE = `Usage: npm run bench -- <name>[:<part>]... [--quick] [--scenario PART] [--rounds N] [--no-record] [--profile DIRECTORY]

  --quick      small sizes and one round: a smoke of seconds, whose figures say nothing; never recorded
  --scenario   the same as a part behind the name
  --rounds N   measured runs of each side, 3 by default
  --no-record  leaves bench/README.md alone
  --profile    every process leaves a CPU profile there; \`node bench/profile.ts FILE\` shows one

Names: ${Object.keys(BENCHES).join(', ')}
Parts: ${Object.entries<Bench>(BENCHES)
  .flatMap(([name, { parts = [] }]) => parts.map((part) => `${name}:${part}`))
  .join(', ')}
`

const { values, positionals } = readArguments()
const asked = positionals.flatMap(parseAsked)
const rounds = values.quick ? 1 : Number(values.rounds)
if (!(rounds >= 1)) refuse('--rounds must be 1 or more.')
if (asked.length === 0) refuse('Which benchmark?')

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

// The image library's settings apply to the whole process, and code compiled by one benchmark is warm for the next:
// each gets its own process.
const [{ name, part } = refuse('Which benchmark?'), ...more] = asked
if (more.length > 0) {
  const options = process.argv.slice(2).filter((word) => !positionals.includes(word))
  const codes = positionals.map(
    (word) =>
      spawnSync(process.execPath, [process.argv[1] ?? '', word, ...options], { stdio: 'inherit' }).status ?? 130,
  )
  process.exit(Math.max(...codes))
}

print(`# ${name}: ${BENCHES[name].measures}, against ${BENCHES[name].floor}. Bar: ${BENCHES[name].bar}.`)
const verdicts = await BENCHES[name].run({ isQuick: values.quick, rounds, profileDirectory: values.profile, part })
if (!values.quick && !values['no-record']) {
  record(
    part === undefined ? name : `${name}:${part}`,
    verdicts.map((verdict) => `${verdict.name}: ${verdict.line}`),
  )
}
process.exit(verdicts.every(({ isReached }) => isReached) ? 0 : 1)

function parseAsked(text: string): { name: BenchName; part?: string }[] {
  const [name = '', part = values.scenario] = text.split(':', 2)
  if (!isBenchName(name)) return refuse(`There is no benchmark "${name}".`)
  if (part === undefined) return [{ name }]
  const { parts = [] }: Bench = BENCHES[name]
  return parts.includes(part) ? [{ name, part }] : refuse(`${name} has no part "${part}".`)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        rounds: { type: 'string', default: '3' },
        scenario: { type: 'string' },
        'no-record': { type: 'boolean', default: false },
        profile: { type: 'string' },
      },
    })
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n\n${USAGE}`)
  process.exit(2)
}
