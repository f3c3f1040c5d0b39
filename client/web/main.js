// @ts-check
document.title = "Metatopia";
