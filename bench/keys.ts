// The cost of a key: an authenticated read of one claim against the bare read.

import { createCaptures, renamed } from './captures.ts'
import { compare, note, type Options, type Verdict } from './harness.ts'
import { createMeter, requestOf } from './load.ts'
import { startProcess } from './processes.ts'
import { openStage } from './stage.ts'

const CONNECTIONS = 32
const CLAIMS = 2_000

export async function runKeys(options: Options): Promise<Verdict[]> {
  const stage = await openStage()
  const web = await startProcess('workers/web.ts', stage.environment, options)
  const floor = await startProcess(
    'bench/floors/keys.ts',
    { ...stage.environment, ACCOUNT_ID: stage.scope.accountId },
    options,
  )
  try {
    const { client, take } = await createCaptures({ port: web.port, key: stage.key }, { isSmall: true })
    const [body] = await take(1)
    if (body === undefined) throw new Error('no capture')
    await client.submitBatch(Array.from({ length: options.isQuick ? 100 : CLAIMS }, () => renamed(body)))
    await stage.owner('VACUUM ANALYZE')
    const ids = (await stage.owner<{ id: string }>('SELECT id FROM claims')).map(({ id }) => id)
    const requests = ids.map((id) => [requestOf({ method: 'GET', path: `/v1/claims/${id}`, key: stage.key })])
    let next = 0
    const meter = createMeter({
      connections: CONNECTIONS,
      seconds: options.isQuick ? 1 : 5,
      request: () => requests[next++ % requests.length] ?? [],
      status: 200,
    })
    return [
      await compare({
        name: 'keys',
        unit: 'answers/s',
        floor: { label: 'one scoped read', run: () => meter.rateOf(floor) },
        ours: { label: 'GET /v1/claims/{id} with a key', run: () => meter.rateOf(web) },
        bar: 0.75,
        rounds: options.rounds,
      }),
      note('keys', meter.costs(web, floor)),
    ]
  } finally {
    await Promise.all([web.stop(), floor.stop()])
    await stage.close()
  }
}
