// A real mail server on a free port. It records what it takes, and refuses what a test tells it to.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  from: string
  to: string[]
  raw: string
  parsed: ParsedMail
}

export interface MailServer {
  url: string
  received: ReceivedMail[]
  /** Refuses the next recipients, each with its status; undefined accepts one. */
  refusals: (number | undefined)[]
  /** Refuses the next mails once it has them, each with its status and the whole mail in its answer. */
  quotes: number[]
  close(): Promise<void>
}

/** @param onReceived Called before the server answers. */
export async function startMailServer(onReceived: (mail: ReceivedMail) => void = () => {}): Promise<MailServer> {
  const received: ReceivedMail[] = []
  const refusals: MailServer['refusals'] = []
  const quotes: MailServer['quotes'] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo({ address }, _session, callback) {
      const status = refusals.shift()
      if (status === undefined) return callback()
      // Real servers put the address in the answer too.
      callback(Object.assign(new Error(`<${address}> refused`), { responseCode: status }))
    },
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks).toString()
        const parsed = await simpleParser(raw)
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        const mail = { from, to: envelope.rcptTo.map(({ address }) => address), raw, parsed }
        onReceived(mail)
        received.push(mail)
        const status = quotes.shift()
        if (status === undefined) return callback()
        callback(Object.assign(new Error(`refused: ${raw.replaceAll(/\s+/g, ' ')}`), { responseCode: status }))
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    refusals,
    quotes,
    close: () => new Promise((done) => server.close(() => done())),
  }
}
