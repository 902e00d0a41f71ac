// One bucket of an S3-speaking server. The only file that imports the SDK, and it loads it when first needed: 0.1 s and
// 35 MB that a deployment on disk does not pay.

import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { Failure } from '#src/failure.ts'

export interface S3Access {
  bucket: string
  region: string
  /** The address of a server other than Amazon's, such as `http://minio:9000`. */
  endpoint?: string | undefined
  /** Without them the SDK uses its defaults: a role of the machine, the pod or the task. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined } | undefined
}

interface Parts {
  count: number
  atOnce: number
  /** Reads one part, and passes it to `sendPart`. */
  send(index: number, sendPart: (bytes: Uint8Array) => Promise<string>): Promise<string>
}

/** Each call throws `service_unavailable` when the server can't be reached or is overloaded, after three more tries. */
export interface Bucket {
  /** @param check.sha256 Of the bytes, in hex: the server refuses other bytes. */
  putObject(key: string, bytes: Uint8Array, check: { sha256?: string }): Promise<void>
  /** When it rejects, nothing is left. */
  putInParts(key: string, parts: Parts): Promise<void>
  /** undefined when there is no such object. `size` is that of the whole object, whatever the range. */
  getObject(
    key: string,
    range?: { first: number; last: number },
  ): Promise<{ stream: Readable; size: number } | undefined>
  hasObject(key: string): Promise<boolean>
  /** A missing object is no error. */
  deleteObject(key: string): Promise<void>
  list(prefix: string): AsyncIterable<{ key: string; modifiedAt: Date }[]>
  /** Aborts multipart uploads that began before then and never completed. Returns how many. */
  abortUploads(prefix: string, before: Date): Promise<number>
  /** @throws {Error} when the bucket does not exist or is not ours. Does not throw when the server is away. */
  check(): Promise<void>
  close(): void
}

const CONNECT_MS = 3_000
// For one request until its answer's head: eight megabytes take a second on a slow line.
const REQUEST_MS = 30_000
// Without a byte in either direction, for example when the reader stopped reading.
const SILENCE_MS = 120_000
const ATTEMPTS = 4

export function createBucket({ bucket, region, endpoint, credentials }: S3Access): Bucket {
  const Bucket = bucket
  let loading: Promise<Loaded> | undefined
  const loaded = () => {
    loading ??= load()
    return loading
  }

  async function load(): Promise<Loaded> {
    const sdk = await import('@aws-sdk/client-s3')
    const client = new sdk.S3Client({
      region,
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      ...(credentials === undefined ? {} : { credentials: withoutUndefined(credentials) }),
      maxAttempts: ATTEMPTS,
      // The defaults add checksums that servers other than Amazon's don't support. Our puts are checked by their
      // SHA-256.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        requestTimeout: REQUEST_MS,
        throwOnRequestTimeout: true,
        socketTimeout: SILENCE_MS,
      },
    })
    return { sdk, client }
  }

  async function ask<R>(work: (loaded: Loaded) => Promise<R>): Promise<R> {
    try {
      return await work(await loaded())
    } catch (error) {
      if (!isUnavailable(error)) throw error
      throw new Failure('service_unavailable', { detail: 'The media store does not answer. Try again.', cause: error })
    }
  }

  async function* pagesOf(Prefix: string): AsyncGenerator<{ key: string; modifiedAt: Date }[]> {
    for (let ContinuationToken: string | undefined; ; ) {
      const page = await ask(({ sdk, client }) =>
        client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix, ...(ContinuationToken && { ContinuationToken }) })),
      )
      yield (page.Contents ?? []).flatMap(({ Key, LastModified }) =>
        Key === undefined || LastModified === undefined ? [] : [{ key: Key, modifiedAt: LastModified }],
      )
      ContinuationToken = page.NextContinuationToken
      if (page.IsTruncated !== true || ContinuationToken === undefined) return
    }
  }

  return {
    putObject: (Key, Body, { sha256 }) =>
      ask(async ({ sdk, client }) => {
        const command = new sdk.PutObjectCommand({ Bucket, Key, Body, ContentLength: Body.byteLength })
        // The request is signed over the hash of its body. We already have it: hashing 4 MB again takes 10 ms.
        if (sha256 !== undefined) {
          command.middlewareStack.add(
            (next) => (args) => {
              if (hasHeaders(args.request)) args.request.headers['x-amz-content-sha256'] = sha256
              return next(args)
            },
            { step: 'build' },
          )
        }
        await client.send(command)
      }),

    putInParts: (Key, { count, atOnce, send }) =>
      ask(async ({ sdk, client }) => {
        const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key }))
        try {
          const tags = await inLanes(count, atOnce, (index) =>
            send(index, async (Body) => {
              const part = { Bucket, Key, UploadId, PartNumber: index + 1, Body, ContentLength: Body.byteLength }
              const { ETag } = await client.send(new sdk.UploadPartCommand(part))
              if (ETag === undefined) throw new Error('the store took a part and gave it no tag')
              return ETag
            }),
          )
          const Parts = tags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
          await client.send(
            new sdk.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
          )
        } catch (error) {
          // A sweep later ends an upload that can't be ended now.
          await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => {})
          throw error
        }
      }),

    getObject: (Key, range) =>
      ask(async ({ sdk, client }) => {
        const Range = range === undefined ? {} : { Range: `bytes=${range.first}-${range.last}` }
        const found = await client.send(new sdk.GetObjectCommand({ Bucket, Key, ...Range })).catch(undefinedIfMissing)
        if (found === undefined) return undefined
        const { Body, ContentLength, ContentRange } = found
        if (!(Body instanceof Readable) || ContentLength === undefined) throw new Error('the store sent no body')
        return { stream: Body, size: Number(/\/(\d+)$/.exec(ContentRange ?? '')?.[1] ?? ContentLength) }
      }),

    hasObject: (Key) =>
      ask(async ({ sdk, client }) => {
        const found = await client.send(new sdk.HeadObjectCommand({ Bucket, Key })).catch(undefinedIfMissing)
        return found !== undefined
      }),

    deleteObject: (Key) =>
      ask(async ({ sdk, client }) => void (await client.send(new sdk.DeleteObjectCommand({ Bucket, Key })))),

    list: pagesOf,

    abortUploads: (Prefix, before) =>
      ask(async ({ sdk, client }) => {
        let aborted = 0
        for (let marker = {}; ; ) {
          const page = await client.send(new sdk.ListMultipartUploadsCommand({ Bucket, Prefix, ...marker }))
          for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
            if (Initiated === undefined || Initiated >= before) continue
            await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(undefinedIfMissing)
            aborted += 1
          }
          if (page.IsTruncated !== true) return aborted
          marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
        }
      }),

    async check() {
      const { sdk, client } = await loaded()
      try {
        await client.send(new sdk.HeadBucketCommand({ Bucket }))
      } catch (error) {
        if (isUnavailable(error)) return
        const status = statusOf(error) ?? (error instanceof Error ? error.name : 'unknown')
        const place = endpoint === undefined ? region : endpoint
        throw new Error(`BLOB_STORE: the bucket ${bucket} at ${place} can't be used (${status}).`, { cause: error })
      }
    },

    close() {
      void loading?.then(({ client }) => client.destroy())
    },
  }
}

interface Loaded {
  sdk: typeof import('@aws-sdk/client-s3')
  client: S3Client
}

/**
 * Runs `work` for each index below `count`, `lanes` at a time. When one rejects, no other begins, and all have ended.
 */
async function inLanes<R>(count: number, lanes: number, work: (index: number) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(count)
  let next = 0
  let failed: { error: unknown } | undefined
  const lane = async () => {
    while (next < count && failed === undefined) {
      const index = next
      next += 1
      try {
        results[index] = await work(index)
      } catch (error) {
        failed ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  if (failed !== undefined) throw failed.error
  return results
}

/** The status of the server's answer; undefined when there was none, or when it is not an error of the SDK. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined
  const { $metadata: metadata } = error
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined
}

function isUnavailable(error: unknown): boolean {
  const status = statusOf(error)
  if (status !== undefined) return status >= 500 || status === 429
  const isFromSdk = typeof error === 'object' && error !== null && '$metadata' in error
  return isFromSdk && error instanceof Error && error.name !== 'CredentialsProviderError'
}

function undefinedIfMissing(error: unknown): undefined {
  if (statusOf(error) !== 404 || (error instanceof Error && error.name === 'NoSuchBucket')) throw error
}

function hasHeaders(request: unknown): request is { headers: Record<string, string> } {
  return typeof request === 'object' && request !== null && 'headers' in request
}

function withoutUndefined({ accessKeyId, secretAccessKey, sessionToken }: NonNullable<S3Access['credentials']>) {
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}
