// `npm run demo`: the main job on a deployment of its own that is gone afterwards. A simulated fleet submits honest and
// tampered captures in bulk, and whatever is not found exactly as planned makes the command fail.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { newAccountId } from '#src/platform/ids.ts'
import { startDeployment } from './deployment.ts'
import { rehearse } from './demo/rehearsal.ts'
import { printReport } from './demo/report.ts'

const USAGE = `Usage: npm run demo -- [--claims N] [--photos DIR] [--seed N] [--json]

  --claims N    captures to submit, each with a claim of its own (default 200; from 16 on every kind of tampering occurs)
  --photos DIR  your own JPEGs as pictures, with the EXIF that the plan gives them
  --seed N      another fleet, other pictures (default 1)
  --json        the last line of stdout is one JSON object; everything else goes to stderr
  --keep        leaves the deployment's data and says where
`
// Below this the fleet has no room for its devices; above it the disk of a laptop has none for the photos.
const MAX_CLAIMS = 100_000

// The channel to whoever started this would keep the process alive.
process.exit(await main())

async function main(): Promise<number> {
  const options = readOptions()
  if (typeof options === 'string') {
    process.stderr.write(options)
    return 2
  }
  const say = (line: string) => void (options.json ? process.stderr : process.stdout).write(`${line}\n`)
  const directory = mkdtempSync(join(tmpdir(), 'countersign-demo-'))
  const interrupted = new AbortController()
  const stop = () => interrupted.abort(new Error('The demo was interrupted.'))
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(signal, stop)

  let deployment: Awaited<ReturnType<typeof startDeployment>> | undefined
  try {
    deployment = await startDeployment({ directory, say, onWarning: (line) => say(`  ! ${line}`) })
    const { services, baseUrl, engine } = deployment
    const account = await services.accounts().create({ id: newAccountId('acc'), name: 'Demo insurer', plan: 'enterprise' })
    const { key } = await services.keys().create({ accountId: account.id, environment: 'sandbox' }, { name: 'demo', scopes: ['all'] })
    say(`Countersign runs at ${baseUrl}, its queues on ${engine}.`)
    const outcome = await rehearse({ ...options, baseUrl, key, say, signal: interrupted.signal })
    printReport(outcome, say)
    if (options.json) process.stdout.write(`${JSON.stringify(outcome.summary)}\n`)
    return outcome.isAsPlanned ? 0 : 1
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  } finally {
    await deployment?.stop()
    if (options.keep) say(`The data is in ${directory}.`)
    else rmSync(directory, { recursive: true, force: true })
  }
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      claims: { type: 'string', default: '200' },
      photos: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const claims = Number(values.claims)
  const seed = Number(values.seed)
  if (values.help) return USAGE
  if (!Number.isInteger(claims) || claims < 1 || claims > MAX_CLAIMS) {
    return `--claims must be a whole number from 1 to ${MAX_CLAIMS}.\n\n${USAGE}`
  }
  if (!Number.isSafeInteger(seed)) return `--seed must be a whole number.\n\n${USAGE}`
  return { claims, seed, photos: values.photos, json: values.json, keep: values.keep }
}
