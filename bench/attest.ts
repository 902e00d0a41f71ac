// Claims settled by worker processes, from the start of the first to the end of the last. Photos are in the store, and
// submissions wait in the backlog before the clock starts.

import { renamed } from './captures.ts'
import { judgeRatio, median, note, type Options, type Verdict } from './harness.ts'
import { openSettling, type Settled } from './settling.ts'
import { openStage } from './stage.ts'

const CLAIMS = 1_000
const PHOTOS = 20
const MIN_SCALING = 1.3

export async function runAttest(options: Options): Promise<Verdict[]> {
  const stage = await openStage({ redis: true })
  const settling = await openSettling(stage, options)
  try {
    const captures = await settling.take(options.isQuick ? 4 : PHOTOS)
    const lines = () =>
      Array.from({ length: options.isQuick ? 100 : CLAIMS }, (_, index) => captures[index % captures.length]).flatMap(
        (capture) => (capture === undefined ? [] : [renamed(capture)]),
      )
    const floors: Settled[] = []
    const one: Settled[] = []
    const two: Settled[] = []
    for (let round = -1; round < options.rounds; round += 1) {
      const measured = [
        await settling.floor('photo', lines()),
        await settling.ours(1, lines(), lines()),
        await settling.ours(2, lines(), lines()),
      ] as const
      if (round < 0) {
        await stage.owner('VACUUM ANALYZE')
        continue
      }
      for (const [index, all] of [floors, one, two].entries()) all.push(...measured.slice(index, index + 1))
    }
    const rates = (all: readonly Settled[]) => all.map(({ rate }) => rate)
    const spent = (all: readonly Settled[]) => `${median(all.map(({ processorMs }) => processorMs)).toFixed(2)} ms`
    const unit = 'claims/s'
    return [
      judgeRatio({
        name: 'attest, one process',
        unit,
        floor: { label: 'verifying and settling, nothing else' },
        ours: { label: 'one attest worker' },
        floors: rates(floors),
        own: rates(one),
        bar: 0.8,
      }),
      judgeRatio({
        name: 'attest, two processes',
        unit,
        floor: { label: 'one attest worker' },
        ours: { label: 'two attest workers' },
        floors: rates(one),
        own: rates(two),
        bar: MIN_SCALING,
      }),
      note('attest: processor time of the process per claim', `ours ${spent(one)}, floor ${spent(floors)}`),
      note('attest', `${stage.redisUrl === undefined ? 'Postgres' : 'Redis'} engine; web and dispatch beside them`),
    ]
  } finally {
    await settling.close()
    await stage.close()
  }
}
