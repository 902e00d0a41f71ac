// Runs before each file of the project `rows`, whose files share worker processes. Photos are drawn from SVG, which the
// service forbids sharp to read for its whole process: they are drawn before a module of the service is loaded. And they
// say when they were taken, which is a minute ago for each file.

import { renewPhotos } from '../attest/claims/phone.ts'

renewPhotos()
