/** Resolves with a word for the reason when this command should end: a signal, or the end of whoever started it. */
export function untilStopped(): Promise<string> {
  return new Promise((stopped) => {
    process.on('SIGINT', () => stopped('Interrupted'))
    process.on('SIGTERM', () => stopped('Terminated'))
    process.on('disconnect', () => stopped('The parent process is gone'))
  })
}
