import { describe, expect, it } from 'vitest'
import { parseStoreAddress } from '#src/platform/store/address.ts'

describe('the address of a store', () => {
  it('is a folder, or a bucket with a prefix', () => {
    expect(parseStoreAddress('disk:/srv/blobs')).toEqual({ kind: 'disk', root: '/srv/blobs' })
    expect(parseStoreAddress('disk:../a:b?c')).toEqual({ kind: 'disk', root: '../a:b?c' })
    const s3 = { kind: 's3', bucket: 'photos', prefix: '', region: undefined, endpoint: undefined }
    expect(parseStoreAddress('s3://photos')).toEqual(s3)
    expect(parseStoreAddress('s3://photos/')).toEqual(s3)
    expect(parseStoreAddress('s3://photos.of-us/a/b-1/?region=eu-central-1')).toEqual({
      ...s3,
      bucket: 'photos.of-us',
      prefix: 'a/b-1',
      region: 'eu-central-1',
    })
    expect(parseStoreAddress('s3://photos/a?endpoint=http://minio:9000&region=x').kind).toBe('s3')
    expect(parseStoreAddress('s3://photos/a?endpoint=http://minio:9000')).toMatchObject({
      endpoint: 'http://minio:9000',
    })
  })

  it('is refused in a sentence when it is anything else', () => {
    for (const text of [
      '',
      'disk:',
      '/srv/blobs',
      'file:///srv/blobs',
      's3:',
      's3://',
      's3:photos',
      's3://Photos',
      's3://p',
      's3://photos:9000/a',
      's3://key:secret@photos/a',
      's3://photos/a//b',
      's3://photos/a b',
      's3://photos/ä',
      's3://photos/a#b',
      's3://photos/a?secret=b',
      's3://photos/a?endpoint=minio:9000',
      's3://photos/a?endpoint=ftp://minio',
      's3://photos/a?endpoint=http://key:secret@minio',
    ]) {
      expect(() => parseStoreAddress(text), text).toThrow(/^(must|has) /)
    }
  })
})
