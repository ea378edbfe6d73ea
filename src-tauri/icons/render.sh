#!/bin/sh
# Renders the pictures of this folder from their SVG. Needs rsvg-convert, ImageMagick and Python with
# Pillow; the results are committed.
set -eu
cd "$(dirname "$0")"
render() { rsvg-convert --width "$3" --height "$3" "$1" --output "$2"; }
render app.svg 32x32.png 32
render app.svg 128x128.png 128
render app.svg 128x128@2x.png 256
render app.svg icon.png 512
for state in idle active waiting blocked; do
    render "tray-$state.svg" "tray-$state.png" 64
done
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
for size in 16 24 32 48 64 256 1024; do
    render app.svg "$scratch/$size.png" "$size"
done
convert "$scratch/16.png" "$scratch/24.png" "$scratch/32.png" "$scratch/48.png" \
    "$scratch/64.png" "$scratch/256.png" icon.ico
python3 -c 'import sys; from PIL import Image; Image.open(sys.argv[1]).save("icon.icns")' \
    "$scratch/1024.png"
