// TIFF files as cameras and scanners write them, and DNG files (Adobe DNG 1.7) as phones do: a preview in the first
// directory, the sensor data in a directory below it.
import sharp from 'sharp'
import { type ExifFacts, exifDirectory } from './exif.ts'
import { renderPhoto } from './photo.ts'
import { ascii, bytes, type Directory, type Entry, long, short, writeTiff } from './tiff.ts'

export interface TiffRequest {
  seed: number
  /** Pixels. */
  width: number
  height: number
  /** `null`: only the tags of the picture. */
  exif: ExifFacts | null
}

export async function renderTiff(request: TiffRequest): Promise<Buffer> {
  return writeTiff(await pictureOf(request, 0, []))
}

export async function renderDng(request: TiffRequest): Promise<Buffer> {
  const { width, height } = request
  const model = request.exif?.camera
  const about = [bytes(50_706, 1, 4, 0, 0), bytes(50_707, 1, 1, 0, 0), ascii(50_708, `${model?.make} ${model?.model}`)]
  const picture = await pictureOf(request, REDUCED, about)
  const sensor: Directory = {
    // One colour per pixel: red, green, green, blue in turn.
    entries: [...sides(width, height, FULL), short(258, 16), short(262, 32_803), short(277, 1), ...filters()],
    strip: Buffer.alloc(2 * width * height, 0x40),
  }
  return writeTiff({ ...picture, links: [{ tag: 330, to: sensor }, ...(picture.links ?? [])] })
}

const FULL = 0
const REDUCED = 1
const RGB = 2

async function pictureOf({ seed, width, height, exif }: TiffRequest, kind: number, more: Entry[]): Promise<Directory> {
  const jpeg = await renderPhoto({ seed, width, height, exif: null })
  const camera = exif === null ? { entries: [], links: [] } : exifDirectory(exif, { width, height })
  return {
    entries: [
      ...sides(width, height, kind),
      short(258, 8, 8, 8),
      short(262, RGB),
      short(277, 3),
      // The position of the colours of a JPEG's pixels (531) does not apply here.
      ...camera.entries.filter(({ tag }) => tag !== 531),
      ...more,
    ],
    links: camera.links ?? [],
    strip: await sharp(jpeg).removeAlpha().raw().toBuffer(),
  }
}

function sides(width: number, height: number, kind: number): Entry[] {
  return [long(254, kind), long(256, width), long(257, height), short(259, 1), long(278, height)]
}

function filters(): Entry[] {
  return [short(33_421, 2, 2), bytes(33_422, 0, 1, 1, 2)]
}
