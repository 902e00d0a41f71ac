// `npm start`: everything in two processes, or with `-- --processes` in those of the Procfile, until Ctrl-C.

import { join } from 'node:path'
import { retryWhileSlow } from '#src/platform/db/retry.ts'
import { buildDashboard, canBuild } from './dashboard/build.ts'
import { type Deployment, startDeployment } from './deployment.ts'
import { OWNER_EMAIL, opensDashboard, publishableKeys, SANDBOX_ACCOUNT } from './seed.ts'
import { sentenceOf } from './sentence.ts'
import { isTold, listenForEnd, untilAborted } from './signals.ts'
import { oncePer } from './warnings.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)
const end = listenForEnd()

// The channel to the parent process would keep this process alive.
process.exit(await main())

async function main(): Promise<number> {
  const [option, ...rest] = process.argv.slice(2)
  if (rest.length > 0 || (option !== undefined && option !== '--processes')) {
    process.stderr.write(
      'npm start takes --processes only, for one process for each line of the Procfile. Settings are environment variables: see docs/operate/configuration.md.\n',
    )
    return 2
  }
  try {
    const warn = (line: string) => void process.stderr.write(`  ! ${line}\n`)
    // The API does not wait for it: until it is built, its address says so.
    const dashboard = makeDashboard(warn)
    const deployment = await startDeployment({
      say,
      onWarning: oncePer(10_000, warn),
      signal: end,
      runsProcfile: option === '--processes',
    })
    say(describe(deployment, await makeLoginLink(deployment)))
    const ending = await Promise.race([untilAborted(end), deployment.lost])
    if (ending instanceof Error) process.stderr.write(`${sentenceOf(ending)}\nEverything is stopped. Start it again.\n`)
    else say(`\n${ending.word}: draining...`)
    await Promise.all([deployment.stop(), dashboard])
    say('Stopped.')
    return ending instanceof Error ? 1 : 0
  } catch (error) {
    if (end.aborted && isTold(end.reason)) {
      say(`${end.reason.word} before it was ready. Stopped.`)
      return end.reason.exitCode
    }
    process.stderr.write(`${sentenceOf(error)}\n`)
    return 1
  }
}

/** Builds the dashboard where its sources changed. A failure is told, and ends nothing. */
async function makeDashboard(warn: (line: string) => void): Promise<void> {
  // A production install has no Vite: its image brings the build.
  if (!canBuild()) return
  try {
    await buildDashboard({ signal: end })
  } catch (error) {
    if (!end.aborted) warn(sentenceOf(error))
  }
}

// undefined where the deployment's owner gave the account to another person.
async function makeLoginLink({ services, state, baseUrl }: Deployment): Promise<string | undefined> {
  if (state === undefined) return undefined
  const print = () => services.account.printLink(OWNER_EMAIL, { accountId: state.account.id, at: baseUrl })
  return retryWhileSlow(print)
    .then(({ link }) => opensDashboard(link))
    .catch(() => undefined)
}

function describe(deployment: Deployment, loginLink: string | undefined): string {
  const { baseUrl, state, directory, postgres, config, internalPorts, takenPorts, logs } = deployment
  const { port } = new URL(baseUrl)
  const taken =
    takenPorts.length === 0
      ? []
      : [
          `Port${takenPorts.length === 1 ? ` ${takenPorts[0]} is` : `s ${takenPorts.join(', ')} are`} taken: it is ${port} this time.`,
        ]
  const lines = [
    '',
    `Countersign listens on ${baseUrl}`,
    `Dashboard: ${baseUrl}/app`,
    `Documentation: ${baseUrl}/docs`,
    ...taken,
    '',
  ]
  if (state !== undefined) {
    const { all, verify, attest } = publishableKeys(state, config)
    lines.push(
      'A sandbox key of an account of your own',
      ...aligned([
        ['account', state.account.id],
        ['every scope', state.account.key],
      ]),
      '',
      ...(loginLink === undefined
        ? []
        : [
            `Sign in to the dashboard as its owner (${OWNER_EMAIL}; the link works once, for an hour)`,
            `  ${loginLink}`,
            '',
          ]),
      `Publishable sandbox keys (of ${SANDBOX_ACCOUNT}, shared by all who know them)`,
      ...aligned([
        ['every scope', all],
        ['verify', verify],
        ['attest', attest],
      ]),
      '',
      'Try it',
      `  curl -s ${baseUrl}/v1/claims -H 'Authorization: Bearer ${state.account.key}'`,
      // An old photo without a position would come out as failed.
      `  npm run capture -- photo.jpg --captured-at now --lat 52.5163 --lng 13.3777 --url ${baseUrl} --key ${state.account.key}`,
      '',
      `Tools for a model: the configuration of an MCP host (${baseUrl}/docs/reference/mcp)`,
      `  ${describeTools(baseUrl, state.account.key)}`,
      '',
    )
  }
  const allowed = config.OUTBOUND_ALLOW.map((host) => `, ${host}`).join('')
  const metrics = Object.entries(internalPorts).map(([name, internal]) => [
    name,
    `http://127.0.0.1:${internal}/metrics`,
  ])
  lines.push(
    'Where things are',
    ...aligned([
      ['data', directory],
      ['database', postgres === undefined ? 'yours (DATABASE_URL)' : `embedded Postgres in ${postgres.directory}`],
      [
        'queues',
        config.REDIS_URL === undefined ? 'in that database (REDIS_URL names a Redis)' : 'in your Redis (REDIS_URL)',
      ],
      ['photos', config.BLOB_STORE.replace(/^disk:/, '')],
      ['logs', `${logs}/<process>.log`],
      [
        'mails',
        config.SMTP_URL === undefined ? `${config.MAIL_DIR ?? 'nowhere (SMTP_URL)'}` : 'to your mail server (SMTP_URL)',
      ],
      ['webhooks to', `public addresses${allowed} (OUTBOUND_ALLOW)`],
    ]),
    '',
    'Metrics',
    ...aligned(metrics),
    '',
    'Ctrl-C drains and stops.',
  )
  return lines.join('\n')
}

/** The form that most hosts read: they start the program, which calls this service. */
function describeTools(baseUrl: string, key: string): string {
  const program = join(import.meta.dirname, '../clients/mcp/src/countersign-mcp.ts')
  const env = { COUNTERSIGN_BASE_URL: baseUrl, COUNTERSIGN_API_KEY: key }
  return JSON.stringify({ mcpServers: { countersign: { command: process.execPath, args: [program], env } } })
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  return rows.map(([name = '', value = '']) => `  ${name.padEnd(13)}${value}`)
}
