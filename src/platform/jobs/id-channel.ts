// Sends ids of jobs that have ended to the other processes. A message is a hint: the
// row that it names is read again, and the poll finds what a lost message named. So sending never fails, and a forged
// message changes no answer.

import type { Redis } from 'ioredis'

export interface IdChannel {
  publish(id: string): void
  /** Connects, and calls `onIds` with those of each message. */
  subscribe(onIds: (ids: readonly string[]) => void): void
}

// Ids of one turn of the event loop share a message. Longer messages are not ours.
const MAX_IDS = 200
const ID_LENGTH = 36
const MAX_LENGTH = MAX_IDS * (ID_LENGTH + 1)

/** Channel of an engine that can't send messages cheaply: NOTIFY would serialise Postgres's commits. */
export const NO_ID_CHANNEL: IdChannel = { publish() {}, subscribe() {} }

interface RedisChannelDeps {
  name: string
  /** A connection for commands that fails fast. */
  publisher(): Redis
  /** A connection that only subscribes, and subscribes again after each reconnect. */
  subscriber(): Redis
}

/** @throws never: without the connection, messages are lost. */
export function createRedisChannel({ name, publisher, subscriber }: RedisChannelDeps): IdChannel {
  let unsent: string[] = []
  const flush = () => {
    const ids = unsent
    unsent = []
    for (let sent = 0; sent < ids.length; sent += MAX_IDS) {
      // A user of Redis without the right to this channel gets an error as well.
      void publisher()
        .publish(name, ids.slice(sent, sent + MAX_IDS).join(' '))
        .catch(() => {})
    }
  }
  return {
    publish(id) {
      unsent.push(id)
      if (unsent.length === 1) setImmediate(flush)
    },
    subscribe(onIds) {
      const redis = subscriber()
      redis.on('message', (_, message: string) => {
        if (message.length <= MAX_LENGTH) onIds(message.split(' '))
      })
      redis.subscribe(name).catch(() => {})
    },
  }
}
