// The content of a rendered photo: a street, houses, a car with its damage. Everything derives from the seed, at a
// quarter of the photo's size. It uses no font, because fonts differ between machines and the bytes of a seed must not.

/** Numbers in [0, 1), the same for the same seed: mulberry32. For pictures and plans, never for secrets. */
export type Dice = () => number

export function createDice(seed: number): Dice {
  let state = Math.imul(seed | 0, 0x9e3779b1) ^ 0x5bd1e995
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Sky, houses, a road, a car and the marks on it, as an SVG of the given size in pixels. */
export function sceneSvg(dice: Dice, width: number, height: number): string {
  const shapes = [
    ...sky(dice, width, height),
    ...houses(dice, width, height),
    road(dice, width, height),
    ...car(dice, width, height),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${shapes.join('')}</svg>`
}

/** Adds sensor noise in place: without it a 12-megapixel JPEG is ten times smaller than a camera's. */
export function addGrain(pixels: Buffer, seed: number, strength: number): void {
  let state = (Math.imul(seed | 0, 0x85ebca6b) ^ 0x2545f491) | 1
  const half = strength >> 1
  for (let at = 0; at < pixels.length; at += 1) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    const value = (pixels[at] ?? 0) + (((state >>> 24) * strength) >> 8) - half
    pixels[at] = Math.max(0, Math.min(255, value))
  }
}

function sky(dice: Dice, width: number, height: number): string[] {
  const hue = int(190 + 60 * dice())
  const light = int(45 + 35 * dice())
  const ground = `hsl(${int(40 + 90 * dice())} ${int(15 + 30 * dice())}% ${int(25 + 30 * dice())}%)`
  const stops = [
    `<stop offset="0" stop-color="hsl(${hue} ${int(70 * dice())}% ${light}%)"/>`,
    `<stop offset="0.58" stop-color="hsl(${int(hue - 190 * dice())} 40% ${Math.min(94, light + 22)}%)"/>`,
    `<stop offset="0.6" stop-color="${ground}"/>`,
  ]
  const clouds = Array.from({ length: 8 }, () =>
    ellipse(
      {
        x: width * dice(),
        y: height * 0.4 * dice(),
        radiusX: width * 0.2 * dice(),
        radiusY: height * 0.06 * dice(),
      },
      'rgb(255 255 255 / 30%)',
    ),
  )
  return [
    `<defs><linearGradient id="light" x2="${dice() / 5}" y2="1">${stops.join('')}</linearGradient></defs>`,
    rect({ x: 0, y: 0, width, height }, 'url(#light)'),
    ...clouds,
  ]
}

function houses(dice: Dice, width: number, height: number): string[] {
  const shapes: string[] = []
  const ground = height * (0.55 + 0.1 * dice())
  for (let left = -width * 0.1 * dice(); left < width; ) {
    const wide = width * (0.12 + 0.2 * dice())
    const tall = height * (0.15 + 0.4 * dice())
    shapes.push(rect({ x: left, y: ground - tall, width: wide, height: tall }, hsl(dice, 15, 55)))
    const columns = 2 + Math.floor(3 * dice())
    const rows = 2 + Math.floor(3 * dice())
    const pane = hsl(dice, 30, 35)
    for (let cell = 0; cell < columns * rows; cell += 1) {
      const x = left + (wide * ((cell % columns) + 0.25)) / columns
      const y = ground - tall + (tall * (Math.floor(cell / columns) + 0.25)) / rows
      if (dice() > 0.15) shapes.push(rect({ x, y, width: wide / columns / 2, height: tall / rows / 2 }, pane))
    }
    left += wide + width * 0.06 * dice()
  }
  return shapes
}

function road(dice: Dice, width: number, height: number): string {
  return rect(
    { x: 0, y: height * (0.68 + 0.08 * dice()), width, height },
    `hsl(${int(360 * dice())} 5% ${int(22 + 20 * dice())}%)`,
  )
}

function car(dice: Dice, width: number, height: number): string[] {
  const long = width * (0.4 + 0.25 * dice())
  const high = long * (0.16 + 0.06 * dice())
  const left = (width - long) * dice()
  const bottom = height * (0.78 + 0.14 * dice())
  const top = bottom - high
  const roof = top - high * (0.6 + 0.4 * dice())
  const paint = hsl(dice, 65, 45)
  const wheel = high * 0.42
  const cabin = [left + long * 0.18, top, left + long * 0.32, roof, left + long * 0.7, roof, left + long * 0.86, top]
  const glass = [
    left + long * 0.25,
    top,
    left + long * 0.35,
    roof + high * 0.12,
    left + long * 0.66,
    roof + high * 0.12,
  ]
  const marks = Array.from({ length: 3 + Math.floor(5 * dice()) }, () => {
    const x = left + long * dice()
    const y = top + high * dice()
    const points = Array.from({ length: 4 }, (_, step) => [x + step * long * 0.03, y + high * 0.3 * (dice() - 0.5)])
    return `<polyline points="${points.flat().map(int)}" fill="none" stroke="hsl(0 0% ${int(90 * dice())}%)" stroke-width="${int(2 + 5 * dice())}"/>`
  })
  return [
    `<polygon points="${cabin.map(int)}" fill="${paint}"/>`,
    `<polygon points="${[...glass, left + long * 0.78, top].map(int)}" fill="hsl(205 30% ${int(35 + 30 * dice())}%)"/>`,
    `<rect x="${int(left)}" y="${int(top)}" width="${int(long)}" height="${int(high)}" rx="${int(high / 4)}" fill="${paint}"/>`,
    ...[0.2, 0.8].map((at) => circle(left + long * at, bottom, wheel, '#161616')),
    ...[0.2, 0.8].map((at) => circle(left + long * at, bottom, wheel * 0.55, '#9a9da0')),
    ellipse(
      {
        x: left + long * dice(),
        y: top + high * dice(),
        radiusX: long * 0.08 * dice(),
        radiusY: high * 0.4 * dice(),
      },
      'rgb(0 0 0 / 35%)',
    ),
    ...marks,
  ]
}

function hsl(dice: Dice, saturation: number, lightness: number): string {
  return `hsl(${int(360 * dice())} ${int(saturation * (0.6 + 0.8 * dice()))}% ${int(lightness * (0.6 + 0.8 * dice()))}%)`
}

interface Box {
  x: number
  y: number
  width: number
  height: number
}

function rect({ x, y, width, height }: Box, fill: string): string {
  return `<rect x="${int(x)}" y="${int(y)}" width="${int(width) + 1}" height="${int(height) + 1}" fill="${fill}"/>`
}

function circle(x: number, y: number, radius: number, fill: string): string {
  return ellipse({ x, y, radiusX: radius, radiusY: radius }, fill)
}

interface Ellipse {
  x: number
  y: number
  radiusX: number
  radiusY: number
}

function ellipse({ x, y, radiusX, radiusY }: Ellipse, fill: string): string {
  return `<ellipse cx="${int(x)}" cy="${int(y)}" rx="${int(radiusX) + 1}" ry="${int(radiusY) + 1}" fill="${fill}"/>`
}

function int(number: number): number {
  return Math.round(number)
}
