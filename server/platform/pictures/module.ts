import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/pictures'
import { defineModule } from '#platform/module/define-module.ts'
import { exportPicture, pruneOfferedPictures } from './picture.ts'
import { pictureRoutes, type PictureServices } from './routes.ts'

const rateLimits = {
  'picture-uploads-per-user': { points: 30, seconds: 3600 },
  'picture-reads': { points: 3000, seconds: 60 },
} as const

declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'platform/pictures': keyof typeof rateLimits
  }
}

export const pictures = defineModule<PictureServices>()({
  name: 'platform/pictures',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => pictureRoutes(hosts.api, services),
  rateLimits,
  tables: { picture: { backup: 'include', placement: { by: 'picture_id' } } },
  cleanupTasks: { 'offered-pictures': pruneOfferedPictures },
  exported: { identity: { picture: exportPicture } },
})
