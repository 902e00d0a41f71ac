/** Why a command was stopped: a word for people, and the exit code of a command that had not finished. */
export interface Told {
  word: string
  exitCode: number
}

/** Aborted with that reason when this command should stop: by a signal, or by the end of its parent process. */
export function listenForEnd(): AbortSignal {
  const end = new AbortController()
  const told = (word: string, exitCode: number) => () => end.abort({ word, exitCode } satisfies Told)
  process.on('SIGINT', told('Interrupted', 130))
  process.on('SIGTERM', told('Terminated', 143))
  process.on('SIGHUP', told('The terminal is gone', 129))
  process.on('disconnect', told('The parent process is gone', 143))
  // A closed output (a closed terminal, `| head`) must not keep us from an ordered shutdown.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  return end.signal
}

export function isTold(reason: unknown): reason is Told {
  return typeof reason === 'object' && reason !== null && 'word' in reason && 'exitCode' in reason
}

export function untilAborted(signal: AbortSignal): Promise<Told> {
  return new Promise((done) => {
    if (signal.aborted) done(signal.reason)
    else signal.addEventListener('abort', () => done(signal.reason), { once: true })
  })
}
