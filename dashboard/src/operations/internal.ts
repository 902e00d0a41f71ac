// The JSON of the internal port, below /jobs. The browser sends the operator's password by itself, once it was asked for it.

export interface Queue {
  queue: string
  status: 'running' | 'paused'
  paused_at: string | null
  workers: number
  slots: number
  due: number
  later: number
  in_flight: number
  dead: number
  oldest_due_seconds: number | null
}

export interface Worker {
  worker_id: string
  kind: string
  slots: number
  heartbeat_at: string
}

export interface Queues {
  queues: Queue[]
  workers: Worker[]
  /** What this port may change: nothing where it has no password. */
  acts: string[]
}

export interface Sample {
  sampled_at: string
  oldest_due_seconds: number
  in_flight: number
}

export interface DeadGroup {
  queue: string
  cause: string
  jobs: number
  oldest_at: string
  newest_at: string
  last_error: string | null
}

export interface DeadJob {
  job_id: string
  queue: string
  account_id: string
  environment: string
  payload: unknown
  attempts: number
  last_error: string | null
  created_at: string
}

export interface List<Item> {
  data: Item[]
  has_more?: boolean
  next_cursor?: string | null
}

export interface Redriven {
  redriven: number
  refused: number
  /** Dead jobs of the group. */
  left: number
}

const LATE_MS = 30_000

/** @throws {Error} with the sentence of the service. */
export async function ask<Answer>(path: string, query: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  const address = given.size === 0 ? `/jobs${path}` : `/jobs${path}?${given}`
  const response = await fetch(address, { method, signal: AbortSignal.timeout(LATE_MS) }).catch((error: unknown) => {
    throw new Error(
      error instanceof DOMException && error.name === 'TimeoutError'
        ? 'The process did not answer within 30 seconds.'
        : 'The process can not be reached. It may be restarting.',
    )
  })
  const body = (await response.json().catch(() => ({}))) as Answer & { error?: string }
  if (!response.ok) throw new Error(body.error ?? `The process answered ${response.status}.`)
  return body
}
