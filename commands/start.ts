// `npm start`: everything, until Ctrl-C.

import { SANDBOX_ACCOUNT, startDeployment } from './deployment.ts'
import { untilStopped } from './signals.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)

try {
  const stopped = untilStopped()
  const deployment = await startDeployment({ say, onWarning: (line) => process.stderr.write(`${line}\n`) })
  const { baseUrl, state, directory, postgresDirectory, engine, internalPorts, environment } = deployment
  const { all, verify, attest } = state.sandboxKeys
  say(`
Countersign listens on ${baseUrl}

  Publishable sandbox keys (shared account ${SANDBOX_ACCOUNT}; anybody may know them)
    every scope   ${all}
    verify        ${verify}
    attest        ${attest}

  A sandbox key of an account of your own (${state.account.id})
                  ${state.account.key}

  Try it
    curl -s ${baseUrl}/v1/claims -H 'Authorization: Bearer ${state.account.key}'
    npm run capture -- photo.jpg --url ${baseUrl} --key ${state.account.key}

  Data            ${directory}
  Postgres        ${postgresDirectory ?? 'yours (DATABASE_URL)'}
  Queues          ${engine}
  Webhooks may reach, beside public addresses: ${environment.OUTBOUND_ALLOW || 'nothing'}
  Metrics         ${Object.entries(internalPorts).map(([name, port]) => `${name} http://127.0.0.1:${port}/metrics`).join('\n                  ')}

Ctrl-C drains and stops.`)
  const reason = await stopped
  say(`\n${reason}: draining...`)
  await deployment.stop()
  say('Stopped.')
  process.exit(0)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
