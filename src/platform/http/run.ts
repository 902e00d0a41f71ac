import type { Answer, ErasedHandler, Exchange, Route } from './endpoint.ts'

export async function runRoute(_route: Route, _handler: ErasedHandler, _exchange: Exchange): Promise<Answer> {
  throw new Error('not reachable before the room is complete')
}
