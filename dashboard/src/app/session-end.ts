// Tells the page that its session is over, and other tabs that there is one again.

type Listener = () => void

const listeners = new Set<Listener>()
const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('countersign.session')

export function announceSessionEnd(): void {
  for (const listener of listeners) listener()
}

/** @returns what removes the listener again. */
export function onSessionEnd(listener: Listener): () => void {
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
