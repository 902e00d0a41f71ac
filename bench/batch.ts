// A batch from the first byte to the answer that its rows are safe, with a verdict per line.

import { createCaptures, renamed } from './captures.ts'
import { compare, judgeLimit, note, type Options, type Verdict } from './harness.ts'
import { once, requestOf } from './load.ts'
import { peakMemory, startProcess } from './processes.ts'
import { openStage } from './stage.ts'

const LINES = 10_000
const FEW_LINES = 1_000
const MEDIA = 20
const WRONG_EVERY = 100
const MAX_GROWTH_MB = 30

export async function runBatch(options: Options): Promise<Verdict[]> {
  const stage = await openStage()
  const web = await startProcess('workers/web.ts', stage.environment, options)
  const floor = await startProcess(
    'bench/floors/batch.ts',
    { ...stage.environment, ACCOUNT_ID: stage.scope.accountId },
    options,
  )
  try {
    const { take } = await createCaptures({ port: web.port, key: stage.key }, { isSmall: true })
    const captures = await take(MEDIA)
    const bodyOf = (lines: number): Buffer => {
      const texts: string[] = []
      for (let line = 1; line <= lines; line += 1) {
        const capture = captures[line % captures.length]
        if (capture === undefined) throw new Error('no capture')
        texts.push(line % WRONG_EVERY === 0 ? '{"media_type":' : JSON.stringify(renamed(capture)))
      }
      return Buffer.from(`${texts.join('\n')}\n`)
    }
    const submit = async (port: number, body: Buffer): Promise<{ accepted: number; rejected?: object[] }> => {
      const headers = { 'Content-Type': 'application/x-ndjson' }
      const request = requestOf({ method: 'POST', path: '/v1/claims/batches', key: stage.key, headers, body })
      return JSON.parse((await once(port, [request], 202)).toString())
    }
    const lines = options.isQuick ? FEW_LINES : LINES
    const good = lines - lines / WRONG_EVERY
    const rateOf = async (port: number): Promise<number> => {
      const body = bodyOf(lines)
      const startedAt = performance.now()
      const { accepted } = await submit(port, body)
      const rate = (lines / (performance.now() - startedAt)) * 1_000
      if (accepted !== good) throw new Error(`${accepted} lines were accepted instead of ${good}`)
      return rate
    }
    const verdict = await compare({
      name: 'batch',
      unit: 'lines/s',
      floor: { label: 'multi-row INSERT', run: () => rateOf(floor.port) },
      ours: { label: `POST /v1/claims/batches of ${lines} lines`, run: () => rateOf(web.port) },
      bar: 0.5,
      rounds: options.rounds,
    })

    const { accepted, rejected = [] } = await submit(web.port, bodyOf(FEW_LINES))
    const isTold = accepted + rejected.length === FEW_LINES && rejected.length === FEW_LINES / WRONG_EVERY
    const growths: number[] = []
    for (let round = 0; round < options.rounds; round += 1) {
      const few = await peakMemory(web.pid, () => submit(web.port, bodyOf(FEW_LINES)))
      const many = await peakMemory(web.pid, () => submit(web.port, bodyOf(lines)))
      if (few !== undefined && many !== undefined) growths.push(many - few)
    }
    return [
      verdict,
      {
        ...note('batch', `${accepted} lines accepted, ${rejected.length} refused, each with its line and its reasons`),
        isReached: isTold,
      },
      growths.length === 0
        ? note('batch, memory', 'not measured: this system does not tell the peak of a process')
        : judgeLimit({
            name: 'batch, memory',
            label: `peak of web with ${lines} lines above that with ${FEW_LINES}`,
            unit: 'MB',
            values: growths,
            max: MAX_GROWTH_MB,
          }),
    ]
  } finally {
    await Promise.all([web.stop(), floor.stop()])
    await stage.close()
  }
}
