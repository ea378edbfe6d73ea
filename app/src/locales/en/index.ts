import chat from './chat.json';
import common from './common.json';
import composer from './composer.json';
import frame from './frame.json';
import goal from './goal.json';
import origins from './origins.json';
import palette from './palette.json';
import panel from './panel.json';
import settings from './settings.json';
import sidebar from './sidebar.json';

export default { chat, common, composer, frame, goal, origins, palette, panel, settings, sidebar };
