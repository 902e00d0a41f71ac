// TLS connections to addresses that tenants name. Until the handshake is done, the server's data passes through a gate
// that bounds its size and passes it to OpenSSL in its account's turn (handshakes.ts).

import { constants } from 'node:crypto'
import { connect as connectSocket, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import {
  connect as connectTls,
  createSecureContext,
  DEFAULT_CIPHERS,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import type { buildConnector } from 'undici'
import { CONNECT_TIMEOUT_MS, type Destination, tcpTimes } from './caller.ts'
import type { Handshakes } from './handshakes.ts'

/**
 * Honest servers send 3 to 8 KB; three certificates with ML-DSA signatures are 16. This limit holds 18 certificates
 * with 3,072-bit RSA keys.
 */
export const MAX_HANDSHAKE_BYTES = 24 * 1024
const KEEP_ALIVE_DELAY_MS = 60_000

export interface SecureOptions {
  /** Certificates (PEM) to trust instead of the platform's. */
  ca: string | undefined
  handshakes: Handshakes
}

/** One connector per account, origin and address: accounts do not resume each other's TLS sessions. */
export function createSecureConnectors({
  ca,
  handshakes,
}: SecureOptions): (to: Destination) => buildConnector.connector {
  let context: SecureContext | undefined

  return (to) => {
    let session: Buffer | undefined
    return (_options, callback) => {
      context ??= createSecureContext({
        ...(ca === undefined ? {} : { ca }),
        // A renegotiation would bypass the gate.
        secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
        // The server chooses the DH parameters, up to 10,000 bits.
        ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
      })
      open(to, { context, session, handshakes }, (error, socket) => {
        if (error !== null) return callback(error, null)
        socket.on('session', (ticket) => {
          session = ticket
        })
        callback(null, socket)
      })
    }
  }
}

interface OpenOptions {
  context: SecureContext
  session: Buffer | undefined
  handshakes: Handshakes
}

type Opened = (...result: [error: Error, socket: null] | [error: null, socket: TLSSocket]) => void

function open({ target, address, account }: Destination, options: OpenOptions, done: Opened): void {
  const { context, session, handshakes } = options
  const refused = handshakes.refusal(account)
  if (refused !== undefined) {
    done(failure('HANDSHAKE_BUDGET', refused), null)
    return
  }
  const startedAt = performance.now()
  const raw = connectSocket({ host: address, port: target.port, noDelay: true })
  raw.setKeepAlive(true, KEEP_ALIVE_DELAY_MS)
  let secure: TLSSocket | undefined
  let isDone = false

  const fail = (error: Error) => {
    secure?.destroy()
    raw.destroy()
    if (isDone) return
    isDone = true
    clearTimeout(timer)
    done(error, null)
  }
  const timer = setTimeout(() => fail(failure('UND_ERR_CONNECT_TIMEOUT', 'no handshake in time')), CONNECT_TIMEOUT_MS)
  raw.on('error', fail)
  raw.once('close', () => fail(failure('ECONNRESET', 'the peer closed the connection before the handshake was done')))
  raw.once('connect', () => {
    const { gate, release } = createGate(raw, { account, handshakes, fail })
    const tcpMs = Math.round(performance.now() - startedAt)
    const socket = connectTls({
      socket: gate,
      secureContext: context,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      // TLS checks the certificate against the name; the socket connects to the address.
      ...(target.isAddress ? { host: target.hostname } : { servername: target.hostname }),
      ...(session === undefined ? {} : { session }),
    })
    secure = socket
    tcpTimes.set(socket, tcpMs)
    socket.on('error', fail)
    socket.once('close', () => gate.destroy())
    socket.once('secureConnect', () => {
      release()
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      done(null, socket)
    })
  })
}

interface GateOptions {
  account: string
  handshakes: Handshakes
  fail(error: Error): void
}

/** The connection that TLS uses. Until `release`, incoming data is held for its turn. */
function createGate(raw: Socket, { account, handshakes, fail }: GateOptions): { gate: Duplex; release(): void } {
  let isReleased = false
  let received = 0
  let held: Buffer[] = []

  const gate = new Duplex({
    read: () => void raw.resume(),
    write: (chunk, _encoding, written) => void raw.write(chunk, written),
    final: (ended) => void raw.end(ended),
    destroy(error, destroyed) {
      raw.destroy()
      destroyed(error)
    },
  })
  const pass = (chunk: Buffer) => {
    if (!gate.push(chunk)) raw.pause()
  }
  const passHeld = () => {
    const chunks = held
    held = []
    if (chunks.length > 0 && !gate.destroyed) pass(Buffer.concat(chunks))
  }

  raw.on('data', (chunk) => {
    if (isReleased) return pass(chunk)
    received += chunk.length
    if (received > MAX_HANDSHAKE_BYTES) {
      const detail = `the receiver sends more than ${MAX_HANDSHAKE_BYTES} bytes before its TLS handshake is done: too many certificates, or too large ones`
      fail(failure('HANDSHAKE_TOO_LARGE', detail))
      return
    }
    held.push(chunk)
    if (held.length > 1) return
    handshakes.enqueue(account, { run: passHeld, refuse: (reason) => fail(failure('HANDSHAKE_BUDGET', reason)) })
  })
  raw.once('end', () => {
    if (isReleased) gate.push(null)
    else fail(failure('ECONNRESET', 'the peer ended the connection before the handshake was done'))
  })
  raw.once('close', () => gate.destroy())
  // `raw` reports it; the error is the same.
  gate.on('error', () => {})

  return {
    gate,
    release() {
      isReleased = true
      passHeld()
    },
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
