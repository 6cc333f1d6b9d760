import type { adminAppsMessages as english } from '../../../en/pages/admin/apps.ts'

/** Holds the messages about the access to apps, for operators. In Arabic. */
export const adminAppsMessages: typeof english = {
  title: 'التطبيقات',
  lead: 'حدّد من يمكنه استخدام كل تطبيق.',
  none: 'لا تطبيقات بعد',
  noneWhat: 'سجّل تطبيقًا بالأمر: \u2068countersign apps create\u2069',
  name: 'التطبيق',
  access: 'الوصول',
  modes: { everyone: 'الجميع', restricted: 'مقيّد', none: 'لا أحد' },
  modesWhat: {
    everyone: 'يمكن لكل مستخدم استخدامه.',
    restricted: 'لا يستخدمه إلا أعضاء مجموعاته.',
    none: 'التطبيق مغلق.',
  },
  disabled: 'معطّل',
  groups: 'المجموعات',
  groupsHint: 'مفاتيح المجموعات، تفصل بينها مسافات.',
  noGroups: 'لا مجموعات',
  contact: 'جهة الاتصال',
  contactHint: 'يراها من لا يملك الوصول.',
  noContact: '–',
  change: 'تغيير الوصول',
  accessOf: (app) => `الوصول إلى ${app}`,
  save: 'حفظ',
  saved: (app) => `حُفظ الوصول إلى ${app}.`,
}
