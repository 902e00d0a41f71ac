// Bounds the processor time of TLS handshakes. OpenSSL verifies every signature of the chain that a server presents
// before our code sees it, and the server chooses how many there are and what each costs. So OpenSSL gets the server's
// data one piece per turn of the event loop, accounts in turn, measured by the processor time of this thread. An
// account that has spent its budget makes no new connection for the rest of the minute. Open connections are not
// affected.

/** For one thread, per account and minute: 1,000 honest handshakes of 3 ms. */
const BUDGET_MS = 3_000
const WINDOW_MS = 60_000
// Thirty times an honest handshake. After one of these, the account makes no more handshakes in that minute.
const HEAVY_MS = 100
const MAX_ACCOUNTS = 10_000

export interface Handshakes {
  /** Why the account may not make a handshake now; undefined when it may. */
  refusal(account: string): string | undefined
  /**
   * Runs a piece of a handshake in its turn and charges its account; or calls `refuse` when the account has spent its
   * budget.
   */
  enqueue(account: string, piece: Piece): void
}

interface Piece {
  run(): void
  refuse(reason: string): void
}

interface HandshakesOptions {
  budgetMs?: number
  heavyMs?: number | undefined
  /** Milliseconds from any starting point. */
  now?: () => number
  /** Processor time of this thread, in milliseconds. */
  cpu?: () => number
}

export function createHandshakes({
  budgetMs = BUDGET_MS,
  heavyMs = HEAVY_MS,
  now = () => performance.now(),
  cpu = threadMs,
}: HandshakesOptions = {}): Handshakes {
  const spent = new Map<string, { ms: number; until: number }>()
  // Each account's pieces in their order. Accounts are in the order of their turns.
  const waiting = new Map<string, Piece[]>()
  let isScheduled = false

  function refusal(account: string): string | undefined {
    const window = spent.get(account)
    if (window === undefined || now() >= window.until || window.ms < budgetMs) return undefined
    const seconds = Math.ceil((window.until - now()) / 1_000)
    return `TLS handshakes with receivers of this account took more processor time than the ${budgetMs} ms that a minute allows: no new one for ${seconds} s`
  }

  function charge(account: string, ms: number): void {
    const window = spent.get(account)
    const isOpen = window !== undefined && now() < window.until
    const used = isOpen ? window : { ms: 0, until: now() + WINDOW_MS }
    used.ms += ms >= heavyMs ? budgetMs : ms
    spent.delete(account)
    spent.set(account, used)
    const [oldest] = spent.keys()
    if (spent.size > MAX_ACCOUNTS && oldest !== undefined) spent.delete(oldest)
  }

  // One piece per turn of the event loop: between two pieces the other work of this thread runs.
  function runNext(): void {
    isScheduled = false
    const [next] = waiting
    if (next === undefined) return
    const [account, pieces] = next
    const piece = pieces.shift()
    waiting.delete(account)
    if (pieces.length > 0) waiting.set(account, pieces)
    schedule()
    if (piece === undefined) return
    const reason = refusal(account)
    if (reason !== undefined) {
      piece.refuse(reason)
      return
    }
    const since = cpu()
    try {
      piece.run()
    } finally {
      charge(account, cpu() - since)
    }
  }

  function schedule(): void {
    if (isScheduled || waiting.size === 0) return
    isScheduled = true
    setImmediate(runNext)
  }

  return {
    refusal,
    enqueue(account, piece) {
      const pieces = waiting.get(account)
      if (pieces === undefined) waiting.set(account, [piece])
      else pieces.push(piece)
      schedule()
    },
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
