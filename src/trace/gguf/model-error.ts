// Why a model can't be used, or a request of it can't be answered. The service maps the codes to its own failures; a
// command prints the sentence.

const MODEL_ERROR_CODES = [
  /** The file is damaged, or was made to do harm. */
  'model_file_invalid',
  /** The file is whole, and something in it is not supported. */
  'model_unsupported',
  /** The model needs more memory than a model's process has. */
  'model_too_large',
  /** No model has this name. */
  'model_not_found',
  /** The request is longer than the model's context, or names a value that the model does not have. */
  'request_invalid',
  /** Readings were asked for of a model that has no probes. */
  'probes_missing',
  /** The parts of an attribution don't add up to what they explain: its arithmetic is not valid for this text. */
  'attribution_inexact',
  /** The request needs what this model can't do, such as a conversation without a chat template. */
  'capability_missing',
  'queue_full',
  'aborted',
  'timeout',
  /** The model's process ended in the middle of the request. */
  'process_ended',
  'closed',
] as const

export type ModelErrorCode = (typeof MODEL_ERROR_CODES)[number]

export type ModelError = Error & { code: ModelErrorCode }

export function modelError(code: ModelErrorCode, message: string, cause?: unknown): ModelError {
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), { code })
}

export function isModelError(error: unknown): error is ModelError {
  return error instanceof Error && 'code' in error && (MODEL_ERROR_CODES as readonly unknown[]).includes(error.code)
}
