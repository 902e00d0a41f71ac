// Which files of the service a request executes, read from the inspectors of running processes by V8's precise coverage.

import { once } from 'node:events'

export interface Walk {
  /** The files that executed a function of theirs since the last call, by their paths from the root of the repository. */
  take(): Promise<Set<string>>
  close(): void
}

interface FunctionCoverage {
  functionName: string
  ranges: { count: number }[]
}

/**
 * Starts to count in a process.
 *
 * @param inspector The address that node prints for `--inspect`, as `ws://127.0.0.1:41234/2a...`.
 * @param root The repository, as a file URL that ends with a slash.
 */
export async function startWalk(inspector: string, root: string): Promise<Walk> {
  const socket = new WebSocket(inspector)
  await once(socket, 'open')
  const answers = new Map<number, (result: { result: { url: string; functions: FunctionCoverage[] }[] }) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data))
    answers.get(id)?.(result)
    answers.delete(id)
  })
  let sent = 0
  const send = (method: string, params = {}) => {
    sent += 1
    const id = sent
    return new Promise<{ result: { url: string; functions: FunctionCoverage[] }[] }>((resolve) => {
      answers.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
  }
  await send('Profiler.enable')
  await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    async take() {
      const { result } = await send('Profiler.takePreciseCoverage')
      const executed = result.filter(
        ({ url, functions }) =>
          url.startsWith(root) &&
          !url.includes('/node_modules/') &&
          functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
      )
      return new Set(executed.map(({ url }) => url.slice(root.length)))
    },
    close: () => socket.close(),
  }
}
