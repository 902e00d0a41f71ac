// Tokens that are issued: from the first byte of the request to the signed token whose row is safe.

import { compare, note, type Options, type Verdict } from './harness.ts'
import { closedLoop, createMeter, requestOf } from './load.ts'
import { startProcess } from './processes.ts'
import { openStage } from './stage.ts'

const CONNECTIONS = 32

export async function runAuthorize(options: Options): Promise<Verdict[]> {
  const stage = await openStage({ redis: true })
  const web = await startProcess('workers/web.ts', stage.environment, options)
  const floor = await startProcess(
    'bench/floors/authorize.ts',
    { ...stage.environment, ACCOUNT_ID: stage.scope.accountId },
    options,
  )
  try {
    let sent = 0
    const request = () => {
      sent += 1
      const body = {
        action_description: 'Pay 120.00 EUR to Example Garage for invoice 2026-118',
        action_payload: { amount: '120.00', currency: 'EUR', counterparty: 'Example Garage', invoice: sent },
        agent_session_id: `session-${sent % 1_000}`,
        device_id: `device-${sent % 1_000}`,
        context: { country: 'DE' },
      }
      return [
        requestOf({
          method: 'POST',
          path: '/v1/intent/authorize',
          key: stage.key,
          headers: { 'Content-Type': 'application/json' },
          body: Buffer.from(JSON.stringify(body)),
        }),
      ]
    }
    const load = { connections: CONNECTIONS, seconds: options.isQuick ? 1 : 5, request, status: 200 }
    const meter = createMeter(load)
    await closedLoop({ ...load, port: web.port })
    await stage.owner('ANALYZE')
    const verdict = await compare({
      name: 'authorize',
      unit: 'tokens/s',
      floor: { label: 'Koa + ES256 + the same reads and writes', run: () => meter.rateOf(floor) },
      ours: { label: 'POST /v1/intent/authorize', run: () => meter.rateOf(web) },
      bar: 0.7,
      rounds: options.rounds,
    })
    return [verdict, note('authorize', meter.costs(web, floor))]
  } finally {
    await Promise.all([web.stop(), floor.stop()])
    await stage.close()
  }
}
