// Bull Board below /queues of the internal port: what BullMQ holds now. The truth is in Postgres, so the board mostly
// shows. It may only pause and resume queues, and does so in Postgres, where dispatch reads it. With no password it is
// readable without credentials, as /metrics is; with one, every request needs it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AppControllerRoute, BullBoardQueues, IServerAdapter, UIConfig } from '@bull-board/api/typings/app'
import { QUEUE_NAMES, type QueueName } from '#src/catalogue/queues.ts'
import type { Database } from '#src/platform/db/database.ts'
import { hasPassword, type InternalPart, isFromHere } from '#src/platform/http/internal.ts'
import type { Log } from '#src/platform/log.ts'
import { type BoardFiles, openBoardFiles } from './board-files.ts'
import type { Engine } from './bull.ts'
import { isPaused, pauseQueue, resumeQueue } from './operate.ts'

export const BOARD_PATH = '/queues'

interface BoardDeps {
  db: Database
  /** Called at the first request to the board: most processes never need an engine for it. */
  engine(): Engine
  password: string | undefined
  log: Log
}

// All that the board may change. Reconcile would undo the other commands, or they would stop workers where operators do
// not check.
const ACTS = new Set([
  'put /api/queues/pause',
  'put /api/queues/resume',
  'put /api/queues/:queueName/pause',
  'put /api/queues/:queueName/resume',
])
const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

export function createBoard({ db, engine, password, log }: BoardDeps): InternalPart {
  let opening: Promise<OpenBoard> | undefined
  const opened = () => {
    opening ??= open().catch((error: unknown) => {
      // The engine is away: the next request tries again.
      opening = undefined
      throw error
    })
    return opening
  }

  async function open(): Promise<OpenBoard> {
    const { createBullBoard } = await import('@bull-board/api')
    const { BullMQAdapter } = await import('@bull-board/api/bullMQAdapter')
    const adapters = await Promise.all(
      QUEUE_NAMES.map(async (queue) => {
        const options = { readOnlyMode: password === undefined, allowRetries: false }
        return Object.assign(new BullMQAdapter(await engine().inspect(queue), options), pausesOf(queue))
      }),
    )
    const board: Partial<OpenBoard> = { files: await openBoardFiles() }
    const server: IServerAdapter = {
      setQueues: (queues) => assign({ queues }),
      setApiRoutes: (routes) => assign({ routes: routes.map(compile) }),
      setUIConfig: (uiConfig) => assign({ uiConfig }),
      setEntryRoute: ({ handler }) =>
        assign({ enter: (uiConfig) => handler({ basePath: BOARD_PATH, uiConfig }).params }),
      setErrorHandler: () => server,
      setStaticPath: () => server,
      setViewsPath: () => server,
    }
    function assign(part: Partial<OpenBoard>): IServerAdapter {
      Object.assign(board, part)
      return server
    }
    const uiConfig = { boardTitle: 'Countersign queues', hideDocsLink: true }
    createBullBoard({ queues: adapters, serverAdapter: server, options: { uiConfig } })
    return board as OpenBoard
  }

  function pausesOf(queue: QueueName) {
    return {
      isPaused: () => isPaused(db, queue),
      pause: () => pauseQueue(db, queue),
      resume: () => resumeQueue(db, queue),
    }
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    req.resume()
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://internal')
    const method = (req.method ?? '').toLowerCase()
    const isReading = method === 'get' || method === 'head'
    if (password !== undefined && !hasPassword(req, password)) {
      return send(res, 401, { error: 'This board has a password.' }, { 'WWW-Authenticate': 'Basic realm="queues"' })
    }
    if (!isReading && (password === undefined || !isFromHere(req)))
      return send(res, 405, { error: 'This board is read-only.' })

    const board = await opened()
    const path = pathname.slice(BOARD_PATH.length)
    if (path.startsWith('/api/')) {
      const verb = method === 'head' ? 'get' : method
      for (const { route, methods, match } of board.routes) {
        const params = methods.includes(verb) ? match(path) : undefined
        if (params === undefined) continue
        const act = `${verb} ${route.route}`
        if (!isReading && !ACTS.has(act)) return send(res, 405, { error: 'Not here: npm run admin does this.' })
        if (!isReading) log.info({ act, queue: params.queueName ?? '' }, 'operator command on the board')
        const query = Object.fromEntries(searchParams)
        const { queues, uiConfig } = board
        const { status = 200, body } = await route.handler({ queues, uiConfig, query, params, body: {}, headers: {} })
        return send(res, status, body)
      }
      return send(res, 404, { error: 'There is nothing at this address.' })
    }
    if (!isReading) return send(res, 405, { error: 'There is nothing to change here.' })
    if (path.startsWith('/static/')) {
      const file = await board.files.find(decodePath(path.slice('/static/'.length)))
      if (file === undefined) return send(res, 404, { error: 'There is no such file.' })
      res
        .writeHead(200, { ...HEADERS, 'Content-Type': file.type, 'Cache-Control': 'private, max-age=3600' })
        .end(file.bytes)
      return
    }
    const page = board.files.page(board.enter(board.uiConfig))
    res.writeHead(200, { ...HEADERS, 'Content-Type': 'text/html; charset=utf-8' }).end(page)
  }

  return { path: BOARD_PATH, answer }
}

interface OpenBoard {
  files: BoardFiles
  queues: BullBoardQueues
  uiConfig: UIConfig
  routes: { route: AppControllerRoute; methods: string[]; match(path: string): Record<string, string> | undefined }[]
  enter(uiConfig: UIConfig): Record<string, string>
}

function compile(route: AppControllerRoute): OpenBoard['routes'][number] {
  const patterns = [route.route].flat().map((text) => ({
    names: [...text.matchAll(/:(\w+)/g)].map(([, name = '']) => name),
    pattern: new RegExp(`^${text.replaceAll(/:\w+/g, '([^/]+)')}$`),
  }))
  return {
    route,
    methods: [route.method].flat(),
    match(path) {
      for (const { names, pattern } of patterns) {
        const [whole, ...values] = pattern.exec(path) ?? []
        if (whole !== undefined)
          return Object.fromEntries(names.map((name, index) => [name, decodePath(values[index] ?? '')]))
      }
      return undefined
    },
  }
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function send(res: ServerResponse, status: number, body: object | string, headers: Record<string, string> = {}): void {
  res.writeHead(status, { ...HEADERS, 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
}
