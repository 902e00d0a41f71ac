// `npm run listen`: forwards the events of a sandbox account to a program on this machine.

import { createForwarder, type Forwarded, isAccepted } from './listen/forward.ts'
import { HELP, type ListenOptions, readListenOptions } from './listen/options.ts'
import { createPuller, type PositionedEnvelope } from './listen/pull.ts'
import { exitCodeOf } from './sentence.ts'
import { listenForEnd } from './signals.ts'

const end = listenForEnd()
process.exit(await exitCodeOf('listen', main))

async function main(): Promise<number> {
  const options = readListenOptions(process.argv.slice(2), process.env)
  if (options === undefined || options.isPrintingSecret) {
    process.stdout.write(options === undefined ? HELP : `${options.secret}\n`)
    return 0
  }
  const puller = createPuller({ ...options, signal: end, onTrouble: createTroubleReport() })
  const forwarder = createForwarder(options)
  const counts = { accepted: 0, refused: 0 }
  const send = async (event: PositionedEnvelope) => {
    const { position, ...envelope } = event
    const forwarded = await forwarder.forward(envelope, end)
    counts[isAccepted(forwarded) ? 'accepted' : 'refused'] += 1
    process.stdout.write(`${options.isJson ? jsonOf(event, forwarded) : lineOf(event, forwarded)}\n`)
    return forwarded
  }
  try {
    if (options.replay !== undefined) return isAccepted(await send(await puller.find(options.replay))) ? 0 : 1
    const start = options.after ?? (await puller.latest())
    note(`Forwarding ${namesOf(options)} after position ${start} to ${shownUrl(options.url)}. Ctrl-C ends.`)
    for await (const event of puller.follow(start, options.types, noteGap)) await send(event)
    return 0
  } catch (error) {
    if (!end.aborted) throw error
    if (options.replay !== undefined) return 1
    note(`Ended. ${counts.accepted + counts.refused} events: ${counts.accepted} accepted, ${counts.refused} not.`)
    return 0
  } finally {
    await Promise.all([puller.close(), forwarder.close()])
  }
}

// The terminal may be shared or recorded: neither a password nor a token in the query is shown.
function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

function namesOf({ types }: ListenOptions): string {
  return types === undefined ? 'all events' : types.join(', ')
}

function lineOf({ event_id: id, type, position }: PositionedEnvelope, forwarded: Forwarded): string {
  const { status, error, durationMs, problem } = forwarded
  const result = status === undefined ? `no answer (${error})` : `${status}${isAccepted(forwarded) ? '' : ' refused'}`
  return `${new Date().toISOString().slice(11, 19)}  ${type.padEnd(25)}  ${id}  ${position ?? '-'}  ${result}  ${durationMs} ms  ${problem === undefined ? 'verified' : `not verified: ${problem}`}`
}

function jsonOf({ event_id, type, position }: PositionedEnvelope, forwarded: Forwarded): string {
  const { status = null, error = null, durationMs: duration_ms, problem = null } = forwarded
  const verified = problem === null
  return JSON.stringify({
    event_id,
    type,
    position,
    accepted: isAccepted(forwarded),
    status,
    error,
    duration_ms,
    verified,
    problem,
  })
}

function noteGap(from: number, to: number): void {
  note(`Events after position ${from} were deleted after 30 days: going on after ${to}.`)
}

// Writes one line when the service goes away, and one when it is back.
function createTroubleReport(): (reason: string | undefined) => void {
  let isAway = false
  return (reason) => {
    if (reason === undefined && isAway) note('The service answers again.')
    if (reason !== undefined && !isAway) note(`The service is away: ${reason}. Asking again.`)
    isAway = reason !== undefined
  }
}

// Lines of events alone go to standard output.
function note(line: string): void {
  process.stderr.write(`${line}\n`)
}
