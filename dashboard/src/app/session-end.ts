// Tells the page that its session is over, or too old for an act, and other tabs that there is one again.

/** `ended`: there is none. `old`: the act takes a sign-in of the last 10 minutes. */
export type SessionEnd = 'ended' | 'old'

type Listener = () => void

const listeners = new Set<(end: SessionEnd) => void>()
const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('countersign.session')

export function announceSessionEnd(end: SessionEnd): void {
  for (const listener of listeners) listener(end)
}

/** @returns what removes the listener again. */
export function onSessionEnd(listener: (end: SessionEnd) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Tells the other tabs of this browser that a person signed in or out. */
export function announceSession(): void {
  channel?.postMessage('changed')
}

/** @returns what removes the listener again. */
export function onOtherTab(listener: Listener): () => void {
  channel?.addEventListener('message', listener)
  return () => channel?.removeEventListener('message', listener)
}
