/** Links between the subjects of a provider and members, for the sign-in, which creates them. */
export {
  deleteLinksOfIdentities,
  listLinksOf,
  deleteOrphanedLinks,
  findLink,
  insertLink,
  setLinkEmail,
} from './link-store.ts'
