// What a method returns: a promise of the answer, which `withResponse` accompanies with its headers.

export interface WithResponse<Answer> {
  data: Answer
  response: Response
  requestId: string | undefined
}

/** Await it for the answer. It is under way as soon as the method returns. */
export class Call<Answer> implements Promise<Answer> {
  readonly [Symbol.toStringTag] = 'Call'
  readonly #sent: Promise<{ answer: Answer; response: Response }>

  constructor(sent: Promise<{ answer: Answer; response: Response }>) {
    this.#sent = sent
  }

  /** The answer with its status and headers. */
  async withResponse(): Promise<WithResponse<Answer>> {
    const { answer, response } = await this.#sent
    return { data: answer, response, requestId: response.headers.get('Request-Id') ?? undefined }
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise.
  then<Done = Answer, Failed = never>(
    onDone?: ((answer: Answer) => Done | PromiseLike<Done>) | null,
    onFailed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return this.#sent.then(({ answer }) => answer).then(onDone, onFailed)
  }

  catch<Failed = never>(
    onFailed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Answer | Failed> {
    return this.then(undefined, onFailed)
  }

  finally(onEnd?: (() => void) | null): Promise<Answer> {
    return this.then().finally(onEnd)
  }
}
