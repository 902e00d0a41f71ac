// `npm run demo`: the main use case on a temporary deployment. A simulated fleet submits honest and tampered captures
// in bulk; then an agent buys within limits, and the ledger is checked. The command fails when any result differs from the plan.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readDeploymentSettings } from '#src/config.ts'
import { retryWhileSlow } from '#src/platform/db/retry.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { createVendor } from '../capture-kit/vendor.ts'
import { buildDashboard } from './dashboard/build.ts'
import { createCall, letAgentBuy } from './demo/agent.ts'
import { letDoctorsOrder } from './demo/clinic.ts'
import { screenPhotos, sendAgain, startDetector, workOnCases } from './demo/office.ts'
import { forgetQueues } from './demo/queues.ts'
import { rehearse } from './demo/rehearsal.ts'
import { printReport } from './demo/report.ts'
import { prepareScenes } from './demo/scenes.ts'
import { type Deployment, startDeployment } from './deployment.ts'
import { OWNER_EMAIL, opensDashboard, recordCreation } from './seed.ts'
import { sentenceOf } from './sentence.ts'
import { isTold, listenForEnd, untilAborted } from './signals.ts'
import { oncePer } from './warnings.ts'

const USAGE = `Usage: npm run demo -- [--claims N] [--photos DIR] [--seed N] [--json] [--keep]

  --claims N    photos to submit, each with a claim of its own (default 200; from 16 on every kind of tampering occurs);
                three videos come on top
  --photos DIR  your own JPEGs as pictures, with the EXIF that the plan gives them
  --seed N      another fleet, other pictures (default 1)
  --json        the last line of stdout is one JSON object; everything else goes to stderr
  --keep        goes on: people work on the cases, the service keeps running until Ctrl-C, and a link opens the dashboard;
                the data stays afterwards
`
// Above this number a laptop's disk has no room for the photos.
const MAX_CLAIMS = 100_000

interface Options {
  claims: number
  seed: number
  photos: string | undefined
  json: boolean
  keep: boolean
}

const end = listenForEnd()

// The channel to the parent process would keep this process alive.
process.exit(await main())

async function main(): Promise<number> {
  let options: Options | undefined
  try {
    options = readOptions()
  } catch (error) {
    process.stderr.write(`${sentenceOf(error)}\nTry: npm run demo -- --help\n`)
    return 2
  }
  if (options === undefined) {
    process.stdout.write(USAGE)
    return 0
  }
  const { json } = options
  const say = (line: string) => void (json ? process.stderr : process.stdout).write(`${line}\n`)
  try {
    return await run(options, say)
  } catch (error) {
    if (end.aborted && isTold(end.reason)) {
      process.stderr.write(`\n${end.reason.word}. Everything is stopped, and its data is removed.\n`)
      return end.reason.exitCode
    }
    process.stderr.write(`${sentenceOf(error)}\n`)
    return 1
  }
}

async function run(options: Options, say: (line: string) => void): Promise<number> {
  const settings = readDeploymentSettings()
  if (settings.isProduction) throw new Error('The demo runs in MODE=development: its receiver listens on loopback.')
  const directory = makeDirectory()
  let deployment: Deployment | undefined
  const detector = options.keep ? await startDetector() : undefined
  // The API does not wait for it, and the demo of what the dashboard shows needs it at its end.
  const dashboard = options.keep ? buildDashboard({ signal: end }) : undefined
  dashboard?.catch(() => {})
  try {
    const scenes = await prepareScenes({ ...options, directory, say, signal: end })
    // A configured database is used with its own keys and photos; everything else is made for this run alone.
    const isOwn = settings.databaseUrl === undefined
    const vendor = await createVendor({ now: () => new Date() })
    const overrides = {
      OUTBOUND_ALLOW: '127.0.0.1',
      // One key submits for a whole fleet, as fast as it can.
      RATE_LIMIT_FACTOR: '1000',
      ATTESTATION_TEST_ROOTS: vendor.roots,
      ATTESTATION_APPS: vendor.apps,
      ...(detector === undefined ? {} : { SCREENING_DETECTOR: 'http', SCREENING_URL: detector.url }),
      ...(isOwn ? ownSettings(directory) : {}),
    }
    deployment = await startDeployment({
      ...(isOwn ? { directory, ...(options.keep ? {} : { transient: directory }) } : {}),
      overrides,
      say,
      // On an interrupt the receiver stops first, and warnings about that are not shown.
      onWarning: oncePer(10_000, (line) => end.aborted || say(`  ! ${line}`)),
      signal: end,
    })
    const { services, baseUrl, config } = deployment
    const { accounts, keys } = services.account
    const insurer = { id: newAccountId('acc'), name: 'Demo insurer', plan: 'enterprise' } as const
    const account = await retryWhileSlow(() => accounts.create(insurer, recordCreation))
    const scope = { accountId: account.id, environment: 'sandbox' } as const
    const { key } = await retryWhileSlow(() => keys.create(scope, { name: 'demo', scopes: ['all'] }))
    say(`Countersign runs at ${baseUrl}, its queues on ${config.REDIS_URL === undefined ? 'Postgres' : 'Redis'}.`)
    const outcome = await rehearse({ ...options, scenes, baseUrl, key, vendor, say, signal: end })
    const linkOf = (email: string) =>
      retryWhileSlow(() => services.account.printLink(email, { accountId: account.id, at: baseUrl }))
    const { link } = await linkOf(OWNER_EMAIL)
    const agent = await letAgentBuy({ baseUrl, key, link, directory, say, signal: end })
    const faults = [...agent.faults, ...(await letDoctorsOrder({ baseUrl, key, linkOf, say, signal: end }))]
    const isAsPlanned = outcome.isAsPlanned && faults.length === 0
    if (detector === undefined) {
      await deployment.stop()
      deployment = undefined
    } else {
      const call = createCall({ baseUrl, signal: end, headers: { Authorization: `Bearer ${key}` } })
      await workOnCases(call)
      await sendAgain(call)
      await screenPhotos(call, detector)
    }
    printReport(outcome, say)
    for (const fault of faults) say(`NOT AS PLANNED: ${fault}`)
    if (!isOwn) say(`DATABASE_URL was given: the rows of ${account.id} stay in that database.`)
    if (options.keep) say(`The data is in ${directory}.`)
    if (options.json) process.stdout.write(`${JSON.stringify({ ...outcome.summary, decisions: agent.decisions })}\n`)
    if (deployment !== undefined) {
      await dashboard
      say(`\nThe service stays at ${baseUrl}. This link signs you in, once within an hour, and opens the dashboard:`)
      say(`  ${opensDashboard((await linkOf(OWNER_EMAIL)).link)}`)
      say('Ctrl-C stops it; the data stays.')
      const ending = await Promise.race([untilAborted(end), deployment.lost])
      if (ending instanceof Error) throw ending
      say(`\n${ending.word}. The service is stopped; the data is in ${directory}.`)
    }
    return isAsPlanned ? 0 : 1
  } finally {
    await deployment?.stop()
    await detector?.close()
    if (settings.redisUrl !== undefined) await forgetQueues(settings.redisUrl, queuePrefix(directory))
    if (!options.keep) rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  }
}

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-demo-'))
  // Postgres then runs as another user, which must be able to enter the folder.
  if (userInfo().uid === 0) chmodSync(directory, 0o711)
  return directory
}

// A configured Redis may serve other deployments.
function queuePrefix(directory: string): string {
  return `demo-${directory.slice(-6).toLowerCase()}`
}

function ownSettings(directory: string): Record<string, string> {
  return { BLOB_STORE: `disk:${join(directory, 'blobs')}`, QUEUE_PREFIX: queuePrefix(directory) }
}

/** undefined: help was requested. @throws {Error} naming the option that is wrong. */
function readOptions(): Options | undefined {
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
  if (values.help) return undefined
  const { photos, json, keep } = values
  if (photos === '') throw new Error('--photos must name a folder.')
  return {
    claims: readNumber('--claims', values.claims, 1, MAX_CLAIMS),
    seed: readNumber('--seed', values.seed, 0, 1e9),
    photos,
    json,
    keep,
  }
}

function readNumber(option: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= least && number <= most))
    throw new Error(`${option} must be a whole number from ${least} to ${most}, not ${text}.`)
  return number
}
