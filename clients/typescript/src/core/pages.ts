// Lists of many pages, and answers of one value a line.

import type { ConnectionError } from './errors.ts'

/** One page of a list. */
export interface PageOf<Item> {
  data: Item[]
  hasMore: boolean
  nextCursor: string | null
}

/** `for await` goes through all items, page after page; `page()` gets one page, with `nextCursor` for the next. */
export class Pages<Item, Page extends PageOf<Item> = PageOf<Item>> implements AsyncIterable<Item> {
  readonly #load: (cursor: string | undefined) => Promise<Page>

  /** @param load Without a cursor it is the page that the arguments name. */
  constructor(load: (cursor: string | undefined) => Promise<Page>) {
    this.#load = load
  }

  page(): Promise<Page> {
    return this.#load(undefined)
  }

  /** Page by page. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let cursor: string | undefined
    for (;;) {
      const page = await this.#load(cursor)
      yield page
      if (!page.hasMore || page.nextCursor === null || page.nextCursor === cursor) return
      cursor = page.nextCursor
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data
  }
}

/** Values that arrive one a line. `for await` reads them as they come; `response()` gets the text as it is. */
export class Lines<Item> implements AsyncIterable<Item> {
  readonly #open: () => Promise<Response>
  readonly #parse: (line: string) => Item
  readonly #failed: (cause: unknown) => ConnectionError

  constructor(source: {
    open: () => Promise<Response>
    parse: (line: string) => Item
    failed: (cause: unknown) => ConnectionError
  }) {
    this.#open = source.open
    this.#parse = source.parse
    this.#failed = source.failed
  }

  response(): Promise<Response> {
    return this.#open()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const { body } = await this.#open()
    if (body === null) return
    const reader = body.getReader()
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for (;;) {
        const { value, done } = await reader.read().catch((cause: unknown) => {
          throw this.#failed(cause)
        })
        const lines = (rest + (done ? decoder.decode() : decoder.decode(value, { stream: true }))).split('\n')
        rest = done ? '' : (lines.pop() ?? '')
        for (const line of lines) if (line.trim() !== '') yield this.#parse(line)
        if (done) return
      }
    } finally {
      // A loop that ends early closes the connection.
      await reader.cancel().catch(() => {})
    }
  }
}
