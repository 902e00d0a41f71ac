// A real browser, driven over its debugging port: opens pages, runs expressions in them, and lists every requested
// address.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
// Rendering two megabytes of script takes a second, and half a minute beside ten other processes.
const PATIENCE = { timeoutMs: 80_000, everyMs: 100 }
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // Only this machine has an address.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
  '--remote-debugging-port=0',
  'about:blank',
]

export const hasBrowser = CHROMIUM !== undefined

export interface Browser {
  open(url: string): Promise<void>
  /** The value of an expression in the page; promises are awaited. */
  evaluate<Value>(expression: string): Promise<Value>
  /** Waits until an expression is true. */
  see(expression: string): Promise<void>
  /** Every address requested since the page was opened, failed ones included; without `data:` and `blob:`. */
  asked(): string[]
  /** The complaints of the page's console and its policy. */
  complaints(): string[]
  setScripts(isOn: boolean): Promise<void>
  /** Adds an authenticator of this device, whose person is verified, and returns its id. */
  addAuthenticator(): Promise<string>
  /** A command of the DevTools protocol. */
  send(method: string, params?: Record<string, unknown>): Promise<Record<string, unknown>>
  /** The screen of the next pages: up to 500 wide it is a phone's. */
  show(width: number, scheme: 'light' | 'dark'): Promise<void>
  close(): Promise<void>
}

interface Message {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { message: string }
}

export async function startBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('there is no browser on this machine')
  const directory = mkdtempSync(join(tmpdir(), 'countersign-browser-'))
  const child = spawn(CHROMIUM, [...FLAGS, `--user-data-dir=${directory}`], { stdio: 'ignore', detached: true })
  const portFile = join(directory, 'DevToolsActivePort')
  await until(() => existsSync(portFile) && readFileSync(portFile, 'utf8').includes('\n'), PATIENCE)
  const [port = ''] = readFileSync(portFile, 'utf8').split('\n')
  const answer = await fetch(`http://127.0.0.1:${port}/json/list`)
  const targets = (await answer.json()) as { type: string; webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(targets.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? '')
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })

  const waiting = new Map<number, (message: Message) => void>()
  let asked: string[] = []
  let complaints: string[] = []
  let isLoaded = false
  socket.addEventListener('message', ({ data }) => {
    const message: Message = JSON.parse(String(data))
    if (message.id !== undefined) waiting.get(message.id)?.(message)
    else if (message.method === 'Page.loadEventFired') isLoaded = true
    else if (message.method === 'Network.requestWillBeSent') asked.push(urlOf(message.params?.request))
    else if (message.method === 'Log.entryAdded') complaints.push(JSON.stringify(message.params?.entry))
    else if (message.method === 'Runtime.exceptionThrown') complaints.push(JSON.stringify(message.params))
    else if (message.method === 'Runtime.consoleAPICalled' && message.params?.type === 'error') {
      complaints.push(JSON.stringify(message.params.args))
    }
  })
  let sent = 0
  const send = (method: string, params: Record<string, unknown> = {}) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      sent += 1
      const id = sent
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id)
        if (error === undefined) resolve(result ?? {})
        else reject(new Error(`${method}: ${error.message}`))
      })
      socket.send(JSON.stringify({ id, method, params }))
    })
  for (const domain of ['Page', 'Network', 'Log', 'Runtime']) await send(`${domain}.enable`)
  // What a page gets follows from the test, and not from the pages before.
  await send('Network.setCacheDisabled', { cacheDisabled: true })

  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const answer = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (answer.exceptionDetails !== undefined) throw new Error(JSON.stringify(answer.exceptionDetails))
    return (answer.result as { value: Value }).value
  }
  return {
    async open(url) {
      // Another fragment of the open page would load nothing.
      isLoaded = false
      await send('Page.navigate', { url: 'about:blank' })
      // A late load event of the former page must not count as that of the new page.
      await until(() => isLoaded, PATIENCE)
      asked = []
      complaints = []
      isLoaded = false
      await send('Page.navigate', { url })
      await until(() => isLoaded, PATIENCE)
    },
    evaluate,
    send,
    see: (expression) =>
      until(
        () =>
          evaluate<boolean>(`Boolean(${expression})`).catch((error: Error) => {
            // The page changes just now.
            if (/navigated or closed|context/i.test(error.message)) return false
            throw error
          }),
        PATIENCE,
      ),
    asked: () => asked.filter((url) => !/^(?:data|blob):/.test(url)),
    complaints: () => complaints,
    setScripts: async (isOn) => void (await send('Emulation.setScriptExecutionDisabled', { value: !isOn })),
    async show(width, scheme) {
      const screen = { width, height: 800, deviceScaleFactor: 1, mobile: width <= 500 }
      await send('Emulation.setDeviceMetricsOverride', screen)
      await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
    },
    async addAuthenticator() {
      await send('WebAuthn.enable')
      const options = {
        protocol: 'ctap2',
        ctap2Version: 'ctap2_1',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      }
      const { authenticatorId } = await send('WebAuthn.addVirtualAuthenticator', { options })
      return String(authenticatorId)
    },
    async close() {
      socket.close()
      await end(child)
      rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    // The process group: the browser has helper processes too.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  })
}

function urlOf(request: unknown): string {
  return typeof request === 'object' && request !== null ? String(Reflect.get(request, 'url')) : ''
}
