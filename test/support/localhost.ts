// A service under the name localhost. Browsers take passkeys there and at no address, and the service must know its address
// when it is made: so its port is opened first, and passes on what arrives.

import { type AddressInfo, connect, createServer } from 'node:net'

export interface Localhost {
  /** `http://localhost:` and the port. */
  root: string
  close(): void
}

/** @param portOf The port to which connections are passed on. Called when one arrives. */
export async function openLocalhost(portOf: () => number): Promise<Localhost> {
  const server = createServer((socket) => {
    const onward = connect(portOf(), '127.0.0.1')
    socket.pipe(onward).pipe(socket)
    for (const each of [socket, onward]) each.on('error', () => [socket, onward].map((one) => one.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    root: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () => void server.close(),
  }
}
