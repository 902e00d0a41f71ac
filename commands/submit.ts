// `npm run submit`: captures in bulk, from files to results. It may be stopped at any time and run again.

import { mkdir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isUsageError, sentenceOf, usageError } from './sentence.ts'
import { isTold, listenForEnd } from './signals.ts'
import { collectDuplicates } from './submit/duplicates.ts'
import { checkFound, createNameCheck, digest, type Entry, type Found } from './submit/entry.ts'
import { readFolder } from './submit/folder.ts'
import { type Journal, openJournal } from './submit/journal.ts'
import { readManifest } from './submit/manifest.ts'
import { HELP, type Options, readOptions } from './submit/options.ts'
import { createPlan, type Plan } from './submit/plan.ts'
import { createProgress, type Progress } from './submit/progress.ts'
import { RESULT_FILES, type Tally, writeResults } from './submit/results.ts'
import { run, strangerOf } from './submit/run.ts'
import { createService, isStopped, type Service, stopped } from './submit/service.ts'
import { printable, problemLines, summaryLines } from './submit/summary.ts'

const EXIT = { done: 0, refused: 1, usage: 2, stopped: 3, failOn: 4 }
const SHOWN_PROBLEMS = 20
// A terminal sends Ctrl-C to this process and to npm, which forwards it: two signals for one keystroke.
const ONE_KEYSTROKE_MS = 500

const end = listenForEnd()
endAtOnceWhenToldTwice()
process.exit(await main())

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2), process.env)
    if (options === undefined) {
      process.stdout.write(HELP)
      return EXIT.done
    }
    return await (options.isCheck ? check(options) : submit(options))
  } catch (error) {
    if (end.aborted && isTold(end.reason)) {
      process.stderr.write(`\n${end.reason.word}. Nothing was sent.\n`)
      return end.reason.exitCode
    }
    process.stderr.write(`${sentenceOf(error)}\n`)
    if (!isUsageError(error)) return EXIT.stopped
    process.stderr.write('Try: npm run submit -- --help\n')
    return EXIT.usage
  }
}

async function check(options: Options): Promise<number> {
  let captures = 0
  let wrong = 0
  const say = (line: string) => void (options.isJson ? process.stderr : process.stdout).write(`${line}\n`)
  for await (const entry of readEntries(options)) {
    captures += 1
    if (entry.problems.length > 0) wrong += 1
    for (const line of problemLines(entry)) say(line)
  }
  if (captures === 0) throw nothingFound(options)
  if (options.isJson) process.stdout.write(`${JSON.stringify({ object: 'check', captures, wrong })}\n`)
  else if (!options.isQuiet)
    say(`${captures} captures, ${wrong === 0 ? 'none' : wrong} with mistakes. Nothing was sent.`)
  return wrong === 0 ? EXIT.done : EXIT.refused
}

async function submit(options: Options): Promise<number> {
  const startedAt = performance.now()
  await mkdir(options.out, { recursive: true })
  await mkdir(dirname(options.state), { recursive: true })
  const stop = new AbortController()
  const progress = createProgress(process.stderr, options.isQuiet)
  const service = createService({
    url: options.url,
    key: options.key ?? '',
    connections: options.concurrency + 4,
    patienceMs: options.patienceMs,
    signal: AbortSignal.any([end, stop.signal]),
    onTrouble: progress.trouble,
  })
  let journal: Journal | undefined
  let plan: Plan | undefined
  try {
    journal = await openJournal(options.state, digest(options.key ?? ''))
    await service.greet()
    await checkState(journal, service)
    plan = await createPlan(`${options.state}.plan`)
    const { total, done } = await fill(plan, journal, progress, options)
    progress.start(total, done)
    const signal = AbortSignal.any([end, stop.signal])
    const abort = () => stop.abort()
    let failure: unknown
    let missing: string | undefined
    try {
      await run({ ...options, plan, journal, service, progress, signal, abort })
      missing = await collectDuplicates({ plan, journal, service, signal })
    } catch (error) {
      failure = error
    }
    progress.end()
    if (missing !== undefined && !options.isQuiet) process.stderr.write(`${missing}\n`)
    return await report(options, { plan, journal, failure, seconds: (performance.now() - startedAt) / 1_000 })
  } finally {
    progress.end()
    await plan?.remove()
    await journal?.close()
    await service.close()
  }
}

interface Ending {
  plan: Plan
  journal: Journal
  /** Why the run ended early. */
  failure: unknown
  seconds: number
}

async function report(options: Options, { plan, journal, failure, seconds }: Ending): Promise<number> {
  const tally = await writeResults(options.out, plan, journal)
  const told = failure !== undefined && end.aborted && isTold(end.reason) ? end.reason : undefined
  const exitCode = told?.exitCode ?? (failure === undefined ? judge(tally, options) : EXIT.stopped)
  const files = { csv: join(options.out, RESULT_FILES.csv), ndjson: join(options.out, RESULT_FILES.ndjson) }
  const say = (line: string) => void (options.isJson ? process.stderr : process.stdout).write(`${line}\n`)
  if (!options.isQuiet) {
    for (const line of summaryLines(tally, seconds)) say(line)
    say(`Results: ${files.csv}\n         ${files.ndjson}`)
  }
  if (options.isJson) {
    const summary = { object: 'submission', ...tally, seconds, files, exit_code: exitCode }
    process.stdout.write(`${JSON.stringify(summary)}\n`)
  }
  if (failure !== undefined) {
    const why = told === undefined ? sentenceOf(failure) : `${told.word}.`
    process.stderr.write(
      `\n${why}\nRun the same command again to go on: ${tally.pending} of ${tally.captures} are left.\n`,
    )
    if (told === undefined && !isStopped(failure) && failure instanceof Error && options.isJson) {
      process.stderr.write(`${failure.stack}\n`)
    }
  }
  return exitCode
}

function judge(tally: Tally, { failOn }: Options): number {
  if (tally.rejected + tally.errors + tally.cancelled + tally.pending > 0) return EXIT.refused
  const isBad = failOn !== undefined && tally.failed + (failOn === 'review' ? tally.review : 0) > 0
  return isBad ? EXIT.failOn : EXIT.done
}

/** Reads and checks the whole input before anything is sent. */
async function fill(
  plan: Plan,
  journal: Journal,
  progress: Progress,
  options: Options,
): Promise<{ total: number; done: number }> {
  let captures = 0
  let wrong = 0
  let done = 0
  const shown: string[] = []
  for await (const entry of readEntries(options)) {
    captures += 1
    progress.checked(captures)
    const key = await plan.add(entry)
    if (entry.problems.length > 0) wrong += 1
    else if (journal.isDone(key)) done += 1
    if (shown.length < SHOWN_PROBLEMS) shown.push(...problemLines(entry))
  }
  if (captures === 0) throw nothingFound(options)
  const note = (line: string) => void process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${line}\n`)
  for (const line of shown.slice(0, SHOWN_PROBLEMS)) note(line)
  if (wrong > 0) note(`${wrong} of ${captures} captures have mistakes and are not sent; results.csv names them all.`)
  if (done > 0 && !options.isQuiet) note(`${done} of ${captures} were done before.`)
  return { total: captures - wrong, done }
}

async function* readEntries(options: Options): AsyncGenerator<Entry, void> {
  const { directory, manifest } = options.input
  const note = (line: string) => void (options.isQuiet || process.stderr.write(`${printable(line)}\n`))
  let ignored = 0
  const founds: AsyncGenerator<Found, void> =
    manifest === undefined
      ? readFolder(directory, {
          except: await realpath(options.out).catch(() => options.out),
          onIgnored: () => {
            ignored += 1
          },
        })
      : readManifest(manifest, { directory, onNote: note })
  const checkName = createNameCheck()
  for await (const found of founds) {
    end.throwIfAborted()
    yield checkName(found, await checkFound(found, options))
  }
  if (ignored > 0) note(`${ignored} files are neither photos nor captures: left out.`)
}

// Checked before anything is sent to the wrong account.
async function checkState(journal: Journal, service: Service): Promise<void> {
  const batchId = journal.anyBatch()
  if (batchId === undefined) return
  const answer = await service.getBatch(batchId)
  if ('refused' in answer) throw stopped(strangerOf(batchId, answer.refused.detail))
}

function nothingFound({ input }: Options): Error {
  return usageError(
    input.manifest === undefined
      ? `${input.directory} has no captures: photos with their JSON beside them.`
      : `${input.manifest} names no captures.`,
  )
}

function endAtOnceWhenToldTwice(): void {
  let toldAt: number | undefined
  process.on('SIGINT', () => {
    const now = performance.now()
    if (toldAt === undefined) {
      toldAt = now
      process.stderr.write('\nStopping. Ctrl-C again ends at once.\n')
    } else if (now - toldAt > ONE_KEYSTROKE_MS) {
      // Not process.exit, which waits for a hanging read or write: the signal's default action ends the process.
      process.removeAllListeners('SIGINT')
      process.kill(process.pid, 'SIGINT')
    }
  })
}
