// The processor time that a settled claim costs, Postgres's included, and for the record the rate, from the start of the
// first claim to the end of the last. Photos are in the store, and submissions wait in the backlog before the clock
// starts.

import { availableParallelism } from 'node:os'
import { renamed } from './captures.ts'
import { describe, judgeRatio, median, note, type Options, type Verdict } from './harness.ts'
import { openSettling, type Settled } from './settling.ts'
import { openStage } from './stage.ts'

const CLAIMS = 1_000
const PHOTOS = 20
const MIN_RATIO = 0.7
const MIN_SCALING = 1.6
// Two workers can't be faster than one when the processors are full.
const FULL = 0.85

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
    const perSecond = (all: readonly Settled[]) => all.map(({ allProcessorMs }) => 1_000 / allProcessorMs)
    const rates = (all: readonly Settled[]) => all.map(({ rate }) => rate)
    const ms = (values: readonly number[]) => `${median(values).toFixed(2)} ms`
    const all = (runs: readonly Settled[]) => ms(runs.map(({ allProcessorMs }) => allProcessorMs))
    const own = (runs: readonly Settled[]) => ms(runs.map(({ processorMs }) => processorMs))
    return [
      judgeRatio({
        name: 'attest, processor time',
        unit: 'claims per second of a processor',
        floor: { label: `verifying and settling, nothing else, ${all(floors)} each,` },
        ours: { label: `one attest worker, web, dispatch and the stores, ${all(one)} each,` },
        floors: perSecond(floors),
        own: perSecond(one),
        bar: MIN_RATIO,
      }),
      judgeScaling(one, two),
      note(
        'attest, rate',
        `one worker ${describe(rates(one), 'claims/s')}; floor ${describe(rates(floors), 'claims/s')}`,
      ),
      note('attest: processor time of the worker alone per claim', `ours ${own(one)}, floor ${own(floors)}`),
      note('attest', `${stage.redisUrl === undefined ? 'Postgres' : 'Redis'} engine; web and dispatch beside them`),
    ]
  } finally {
    await settling.close()
    await stage.close()
  }
}

function judgeScaling(one: readonly Settled[], two: readonly Settled[]): Verdict {
  const name = 'attest, two processes'
  const unit = 'claims/s'
  const [floors, own] = [one, two].map((runs) => runs.map(({ rate }) => rate)) as [number[], number[]]
  const busy = median(two.map(({ rate, allProcessorMs }) => (rate * allProcessorMs) / 1_000 / availableParallelism()))
  if (busy >= FULL) {
    const ratio = median(own.map((rate, round) => rate / (floors[round] ?? Number.NaN))).toFixed(2)
    return note(
      name,
      `${describe(own, unit)}, ${ratio} x one worker; not judged: they use ${Math.round(busy * 100)} % of all processors`,
    )
  }
  return judgeRatio({
    name,
    unit,
    floor: { label: 'one attest worker' },
    ours: { label: 'two attest workers' },
    floors,
    own,
    bar: MIN_SCALING,
  })
}
